/**
 * For the whole run: one migrated database, of which each app is given a copy, and the
 * command as it is shipped.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { openDatabase } from "../../src/database/connect.ts";
import { migrate } from "../../src/database/migrate.ts";
import { connectTo, runOnServer, withDatabase } from "./postgres.ts";
import { programPath } from "./process.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The embedded engine's folder, or the name of PostgreSQL's template database. */
    template: string;
    /** Where the tests of this run create folders. */
    folder: string;
  }
}

/** Started by the project of the first engine. */
let built: Promise<unknown> | undefined;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  built ??= build();
  built.catch(() => undefined); // Reported below, also if the template takes longer.
  const { env } = project.config;
  const url = env.TIDINGS_TEST_ENGINE === "postgres" ? env.TEST_DATABASE_URL : undefined;
  const folder = await mkdtemp(join(tmpdir(), "tidings-test-"));
  const template =
    url === undefined ? join(folder, "template") : `tidings_test_${randomBytes(6).toString("hex")}`;
  await Promise.all([url === undefined ? fill(undefined, template) : createTemplate(url, template), built]);
  project.provide("folder", folder);
  project.provide("template", template);
  return async () => {
    await rm(folder, { recursive: true, force: true });
    if (url !== undefined) {
      await dropDatabases(url, template);
    }
  };
}

/** Builds the program, unless the last build is newer than every source. */
async function build(): Promise<void> {
  const last = await modifiedAt(programPath).catch(() => 0);
  const sources = [
    "package.json",
    ...(await listSources("src", "tools", "skills", "emulator", "console", "scripts")),
  ];
  const changed = await Promise.all(sources.map(modifiedAt));
  if (last > Math.max(...changed)) {
    return;
  }
  await promisify(execFile)(process.execPath, ["--import", "tsx", "scripts/build.ts"], {
    // Vitest sets another NODE_ENV, with which Vite builds the pages for development: they are larger.
    env: { ...process.env, NODE_ENV: "production", BUILD_DIR: dirname(programPath) },
  });
}

/** Files and folders: the time of a folder changes when a file in it is removed. */
async function listSources(...folders: string[]): Promise<string[]> {
  const lists = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder, { recursive: true })).map((name) => join(folder, name)),
    ),
  );
  return [...folders, ...lists.flat()];
}

async function modifiedAt(path: string): Promise<number> {
  return (await stat(path)).mtimeMs;
}

const log = { debug() {}, info() {}, warn() {}, error: console.error };

async function createTemplate(server: string, name: string): Promise<void> {
  await runOnServer(server, `create database ${name}`);
  await fill(withDatabase(server, name), tmpdir());
}

/** Drops the template and its copies, whose names begin with its name. */
async function dropDatabases(server: string, template: string): Promise<void> {
  await using client = await connectTo(server);
  const rows = await client.query(
    `select datname from pg_database where starts_with(datname, '${template}')`,
  );
  for (const { datname } of rows) {
    await client.query(`drop database ${datname} with (force)`);
  }
}

async function fill(url: string | undefined, dataDir: string): Promise<void> {
  await using database = await openDatabase({ url, dataDir, log });
  await migrate(database);
}
