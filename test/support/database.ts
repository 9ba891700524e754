/**
 * Migrated, empty databases for tests.
 *
 * A new one is a copy of the test run's template. A copy takes 0.1 to 0.4 seconds on PostgreSQL and 3 seconds
 * on the embedded engine, so a worker empties a database that was used and uses it again, with its open
 * connections: that takes 30 ms.
 */
import { randomBytes } from "node:crypto";
import { cpSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { inject } from "vitest";
import { openDatabase } from "../../src/database/connect.ts";
import type { Database } from "../../src/database/database.ts";
import { withoutStatementLimit } from "../../src/database/outage/index.ts";
import { emptyDatabase, readShape } from "./empty-database.ts";
import { poolerUrl, runOnServer, serverUrl, withDatabase } from "./postgres.ts";

type Settings = Readonly<Record<string, string>>;

export interface TestDatabase extends AsyncDisposable {
  /** The settings that select it. */
  readonly env: Settings;
  /** If the worker keeps it open. On the embedded engine, `env` then selects a folder for files alone. */
  readonly opened?: Database;
}

interface LentDatabase extends TestDatabase {
  readonly opened: Database;
}

const log = { debug() {}, info() {}, warn() {}, error: console.error };

/** A new database for tests that open it themselves, in this process or in others. */
export async function createTestDatabase(): Promise<TestDatabase> {
  if (serverUrl !== undefined) {
    const dataDir = await createFilesFolder();
    return {
      env: await createOnServer(serverUrl, dataDir),
      [Symbol.asyncDispose]: () => removeFolder(dataDir),
    };
  }
  const dataDir = await copyTemplate();
  return { env: { TIDINGS_DATA_DIR: dataDir }, [Symbol.asyncDispose]: () => removeFolder(dataDir) };
}

/** The databases on the server are dropped at the end of the run. */
async function createOnServer(server: string, dataDir: string): Promise<Settings> {
  const template = inject("template");
  const name = `${template}_${randomBytes(6).toString("hex")}`;
  await runOnServer(server, `create database ${name} template ${template}`);
  // No test stops the server, so no commit has to wait for the disk.
  await runOnServer(server, `alter database ${name} set synchronous_commit = off`);
  return { TIDINGS_DATA_DIR: dataDir, DATABASE_URL: withDatabase(poolerUrl ?? server, name) };
}

async function copyTemplate(): Promise<string> {
  const dataDir = await createFilesFolder();
  // The asynchronous copy takes more than twice as long for a thousand files.
  cpSync(inject("template"), dataDir, { recursive: true });
  return dataDir;
}

const createFilesFolder = () => mkdtemp(join(inject("folder"), "app-"));
const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true });

/**
 * An open database, and its shape when it was new: a test that changed the shape leaves a
 * database for no other test.
 */
interface KeptDatabase {
  readonly database: Database;
  readonly env: Settings;
  readonly shape: string;
}

/** This worker's open databases that no test uses now. */
const free: KeptDatabase[] = [];

/** A database for one app, as fast as possible: it is open already and stays open. */
export async function lendTestDatabase(): Promise<LentDatabase> {
  const kept = (await takeEmptied()) ?? (await open());
  const dataDir = await createFilesFolder();
  return {
    env: { ...kept.env, TIDINGS_DATA_DIR: dataDir },
    opened: { ...kept.database, async [Symbol.asyncDispose]() {} },
    async [Symbol.asyncDispose]() {
      free.push(kept);
      await removeFolder(dataDir);
    },
  };
}

async function takeEmptied(): Promise<KeptDatabase | undefined> {
  const kept = free.pop();
  if (kept === undefined) {
    return undefined;
  }
  if (await emptyDatabase(queryOf(kept.database), kept.shape)) {
    return kept;
  }
  await kept.database[Symbol.asyncDispose]();
  return takeEmptied();
}

async function open(): Promise<KeptDatabase> {
  const { env } = await createTestDatabase();
  const { DATABASE_URL: url, TIDINGS_DATA_DIR: dataDir = "" } = env;
  const database = await openDatabase({ url, dataDir, log, isMaintained: false });
  return { database, env, shape: await readShape(queryOf(database)) };
}

/**
 * Statements without values on an open database. They have no time limit: to delete many rows takes long on
 * the embedded engine.
 */
export const queryOf =
  ({ queries }: Database) =>
  (text: string) =>
    withoutStatementLimit(async () => (await sql.raw<Record<string, unknown>>(text).execute(queries)).rows);
