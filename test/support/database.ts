/**
 * Migrated, empty databases for tests.
 *
 * A new one is a copy of the test run's template. A copy takes 0.1 to 0.4 seconds on PostgreSQL and 3 seconds on the
 * embedded engine, so a worker empties a database that was used and uses it again, which takes 50 ms.
 */
import { randomBytes } from "node:crypto";
import { cpSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { inject } from "vitest";
import { openDatabase } from "../../src/database/connect.ts";
import type { Database } from "../../src/database/database.ts";
import { emptyDatabase, readShape } from "./empty-database.ts";
import { connectTo, runOnServer, serverUrl, withDatabase } from "./postgres.ts";

export interface TestDatabase extends AsyncDisposable {
  /** The settings that select it. */
  readonly env: Readonly<Record<string, string>>;
  /** On the embedded engine, if the worker keeps it open. The settings then select a folder for files alone. */
  readonly opened?: Database;
}

/** A database for tests that open it themselves, in this process or in others. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return serverUrl === undefined ? createFolder() : lendFromServer(serverUrl);
}

/** A database for one app, as fast as possible: the embedded one is open already and stays open. */
export async function lendTestDatabase(): Promise<TestDatabase> {
  return serverUrl === undefined ? lendEngine() : lendFromServer(serverUrl);
}

async function createFolder(): Promise<TestDatabase> {
  const dataDir = await copyTemplate();
  return { env: { TIDINGS_DATA_DIR: dataDir }, [Symbol.asyncDispose]: () => removeFolder(dataDir) };
}

async function copyTemplate(): Promise<string> {
  const dataDir = await createFilesFolder();
  // The asynchronous copy takes more than twice as long for a thousand files.
  cpSync(inject("template"), dataDir, { recursive: true });
  return dataDir;
}

const createFilesFolder = () => mkdtemp(join(inject("folder"), "app-"));
const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true });

/** A database, and its shape when it was new: a test that changed the shape leaves a database for no other test. */
interface Used<Value> {
  readonly value: Value;
  readonly shape: string;
}

/** The names of this worker's databases on the server that no test uses now. They are dropped at the end of the run. */
const freeNames: Used<string>[] = [];

async function lendFromServer(server: string): Promise<TestDatabase> {
  const used = (await takeEmptied(server)) ?? (await createOnServer(server));
  const dataDir = await createFilesFolder();
  return {
    env: { TIDINGS_DATA_DIR: dataDir, DATABASE_URL: withDatabase(server, used.value) },
    async [Symbol.asyncDispose]() {
      freeNames.push(used);
      await removeFolder(dataDir);
    },
  };
}

async function takeEmptied(server: string): Promise<Used<string> | undefined> {
  const used = freeNames.pop();
  if (used === undefined) {
    return undefined;
  }
  await using client = await connectTo(withDatabase(server, used.value));
  const isReusable = await emptyDatabase(client.query, used.shape);
  return isReusable ? used : takeEmptied(server);
}

async function createOnServer(server: string): Promise<Used<string>> {
  const template = inject("template");
  const name = `${template}_${randomBytes(6).toString("hex")}`;
  await runOnServer(server, `create database ${name} template ${template}`);
  // No test stops the server, so no commit has to wait for the disk.
  await runOnServer(server, `alter database ${name} set synchronous_commit = off`);
  await using client = await connectTo(withDatabase(server, name));
  return { value: name, shape: await readShape(client.query) };
}

/** This worker's open embedded databases that no test uses now. */
const freeEngines: Used<Database>[] = [];

async function lendEngine(): Promise<TestDatabase> {
  const used = (await takeEmptiedEngine()) ?? (await openEngine());
  const dataDir = await createFilesFolder();
  return {
    env: { TIDINGS_DATA_DIR: dataDir },
    opened: { ...used.value, async [Symbol.asyncDispose]() {} },
    async [Symbol.asyncDispose]() {
      freeEngines.push(used);
      await removeFolder(dataDir);
    },
  };
}

async function takeEmptiedEngine(): Promise<Used<Database> | undefined> {
  const used = freeEngines.pop();
  if (used === undefined) {
    return undefined;
  }
  if (await emptyDatabase(queryOf(used.value), used.shape)) {
    return used;
  }
  await used.value[Symbol.asyncDispose]();
  return takeEmptiedEngine();
}

async function openEngine(): Promise<Used<Database>> {
  const log = { debug() {}, info() {}, warn() {}, error: console.error };
  const value = await openDatabase({ url: undefined, dataDir: await copyTemplate(), log });
  return { value, shape: await readShape(queryOf(value)) };
}

const queryOf =
  ({ queries }: Database) =>
  async (text: string) =>
    (await sql.raw<Record<string, unknown>>(text).execute(queries)).rows;
