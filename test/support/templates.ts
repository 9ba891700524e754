/** For the whole run: one migrated database, of which each house is given a copy, and the command as it is shipped. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { openDatabase } from "../../src/database/connect.ts";
import { migrate } from "../../src/database/migrate.ts";
import { administer, withDatabase } from "./postgres.ts";
import { program } from "./process.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The embedded engine's folder, or the name of PostgreSQL's template database. */
    template: string;
  }
}

/** Begun by the first engine's project. */
let built: Promise<unknown> | undefined;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  built ??= promisify(execFile)(process.execPath, ["--import", "tsx", "scripts/build.ts"], {
    env: { ...process.env, BUILD_DIR: dirname(program) },
  });
  const { env } = project.config;
  const url = env.TIDINGS_TEST_ENGINE === "postgres" ? env.TEST_DATABASE_URL : undefined;
  const [template, remove] = url === undefined ? await makeFolder() : await makeDatabase(url);
  project.provide("template", template);
  await built;
  return remove;
}

const log = { debug() {}, info() {}, warn() {}, error: console.error };

async function makeFolder() {
  const dataDir = await mkdtemp(join(tmpdir(), "tidings-template-"));
  await fill(undefined, dataDir);
  return [dataDir, () => rm(dataDir, { recursive: true, force: true })] as const;
}

async function makeDatabase(server: string) {
  const name = `tidings_template_${randomBytes(6).toString("hex")}`;
  await administer(server, `create database ${name}`);
  await fill(withDatabase(server, name), tmpdir());
  return [name, () => administer(server, `drop database ${name} with (force)`)] as const;
}

async function fill(url: string | undefined, dataDir: string): Promise<void> {
  await using database = await openDatabase({ url, dataDir, log });
  await migrate(database);
}
