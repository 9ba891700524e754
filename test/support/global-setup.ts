/** For the whole run: one migrated database, of which each app is given a copy, and the command as it is shipped. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { openDatabase } from "../../src/database/connect.ts";
import { migrate } from "../../src/database/migrate.ts";
import { runOnServer, withDatabase } from "./postgres.ts";
import { programPath } from "./process.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The embedded engine's folder, or the name of PostgreSQL's template database. */
    template: string;
  }
}

/** Started by the project of the first engine. */
let built: Promise<unknown> | undefined;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  built ??= build();
  const { env } = project.config;
  const url = env.TIDINGS_TEST_ENGINE === "postgres" ? env.TEST_DATABASE_URL : undefined;
  const [[template, remove]] = await Promise.all([
    url === undefined ? makeFolder() : makeDatabase(url),
    built,
  ]);
  project.provide("template", template);
  return remove;
}

/** Builds the program, unless the last build is newer than every source. */
async function build(): Promise<void> {
  const last = await modifiedAt(programPath).catch(() => 0);
  const sources = ["package.json", ...(await listSources("src", "tools", "scripts"))];
  const changed = await Promise.all(sources.map(modifiedAt));
  if (last > Math.max(...changed)) {
    return;
  }
  await promisify(execFile)(process.execPath, ["--import", "tsx", "scripts/build.ts"], {
    env: { ...process.env, BUILD_DIR: dirname(programPath) },
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

async function makeFolder() {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-template-"));
  await fill(undefined, dataDir);
  return [dataDir, () => rm(dataDir, { recursive: true, force: true })] as const;
}

async function makeDatabase(server: string) {
  const name = `tidings_template_${randomBytes(6).toString("hex")}`;
  await runOnServer(server, `create database ${name}`);
  await fill(withDatabase(server, name), tmpdir());
  return [name, () => runOnServer(server, `drop database ${name} with (force)`)] as const;
}

async function fill(url: string | undefined, dataDir: string): Promise<void> {
  await using database = await openDatabase({ url, dataDir, log });
  await migrate(database);
}
