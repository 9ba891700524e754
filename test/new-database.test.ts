/**
 * The archive of an empty database, from which the built program makes a new one.
 *
 * @module-tag embedded
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDatabase } from "../src/database/connect.ts";
import type { Database } from "../src/database/database.ts";
import { archiveName } from "../src/database/embedded/archive-name.ts";
import { unpackNew } from "../src/database/embedded/unpack.ts";
import { migrations } from "../src/database/migrations/index.ts";
import { silentLog } from "./support/app.ts";
import { programPath, startProcess } from "./support/process.ts";

const archive = join(dirname(programPath), archiveName());

let dataDir: string;
let data: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "tidings-new-"));
  data = join(dataDir, "database");
});

afterEach(() => rm(dataDir, { recursive: true }));

const open = () => openDatabase({ url: undefined, dataDir, log: silentLog });

async function readMigrations({ queries }: Database) {
  const { rows } = await sql<{ name: string; timestamp: string }>`select * from kysely_migration`.execute(
    queries,
  );
  return rows;
}

test("the archive has all migrations and not one row of any other table", async () => {
  unpackNew(data, archive);
  await using database = await open();
  const names = (await readMigrations(database)).map(({ name }) => name);
  expect(names.toSorted()).toEqual(Object.keys(migrations));

  const tables = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely_%'
  `.execute(database.queries);
  expect(tables.rows.length).toBeGreaterThan(20);
  for (const { name } of tables.rows) {
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(database.queries);
    expect([name, rows]).toEqual([name, []]);
  }
});

test("the first start of the program unpacks it and creates the first organization", async () => {
  const started = new Date().toISOString();
  const program = startProcess(["serve"], { TIDINGS_DATA_DIR: dataDir, PORT: "0", DATABASE_URL: "" });
  await program.waitForOutput(/REST +http/);
  await program.end("SIGTERM");
  await using database = await open();
  for (const { timestamp } of await readMigrations(database)) {
    expect(timestamp < started).toBe(true);
  }
  expect(await database.queries.selectFrom("organizations").select("name").execute()).toHaveLength(1);
});

test("what a crash while unpacking left is removed, and the database is complete", async () => {
  await mkdir(`${data}.new/base`, { recursive: true });
  await writeFile(`${data}.new/PG_VERSION`, "half");
  unpackNew(data, archive);
  expect(await readdir(dataDir)).toEqual(["database"]);
  const whole = join(dataDir, "whole");
  unpackNew(whole, archive);
  expect(await readFiles(data)).toEqual(await readFiles(whole));
});

/** The files of a folder with their contents, as hashes. */
async function readFiles(folder: string): Promise<readonly (readonly [string, string])[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return files
    .map((file) => [relative(folder, file), hash(readFileSync(file))] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}

const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

test("a database that exists stays as it is, and a half-made copy beside it is removed", async () => {
  await mkdir(`${data}.new`);
  await mkdir(data);
  await writeFile(join(data, "PG_VERSION"), "18");
  unpackNew(data, archive);
  expect(await readdir(dataDir)).toEqual(["database"]);
  expect(await readdir(data)).toEqual(["PG_VERSION"]);
});

test("without an archive the folder is created empty", async () => {
  unpackNew(data, join(dataDir, "missing.tar.gz"));
  expect(await readdir(data)).toEqual([]);
});
