/** Destroys a page of a table or an index on the disk, as a broken disk does. */
import { randomBytes } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { openDatabase } from "../../src/database/connect.ts";
import { silentLog } from "./app.ts";
import { queryOf, type TestDatabase } from "./database.ts";
import { connectTo, runOnServer, serverUrl, withDatabase } from "./postgres.ts";

/** Neither a page that was never used, which is all zeros, nor one with a valid header. */
const garbage = Buffer.alloc(64, 0xff);

type Settings = TestDatabase["env"];

/**
 * Destroys the first page of each relation.
 * @returns the damaged database, which on a server is another one.
 */
export async function damageRelations(
  database: TestDatabase,
  relations: readonly string[],
): Promise<TestDatabase> {
  const { env } = database;
  if (env.DATABASE_URL !== undefined && serverUrl !== undefined) {
    return { ...database, env: await damageOnServer(env, { relations, url: serverUrl }) };
  }
  await damageFiles(env, relations);
  return database;
}

async function damageFiles({ TIDINGS_DATA_DIR: dataDir = "" }: Settings, relations: readonly string[]) {
  for (const path of await findPaths(dataDir, relations)) {
    await using file = await open(join(dataDir, "database", path), "r+");
    await file.write(garbage, 0, garbage.length, 0);
  }
}

/** The paths of their files, after everything is written to them. */
async function findPaths(dataDir: string, relations: readonly string[]): Promise<readonly string[]> {
  await using database = await openDatabase({ url: undefined, dataDir, log: silentLog });
  const query = queryOf(database);
  await query("checkpoint");
  const rows = await query(`select pg_relation_filepath(name::regclass) as path from ${asTable(relations)}`);
  return rows.map(({ path }) => String(path));
}

const asTable = (relations: readonly string[]) => `unnest('{${relations.join(",")}}'::text[]) as name`;

/**
 * The server itself writes the files, which the test may not reach. Pages in the memory of the server hide
 * the damage, so the database is copied file by file.
 */
async function damageOnServer(
  env: Settings,
  { relations, url }: { readonly relations: readonly string[]; readonly url: string },
): Promise<Settings> {
  const name = new URL(env.DATABASE_URL ?? "").pathname.slice(1);
  const copy = `${inject("template")}_${randomBytes(6).toString("hex")}`;
  await runOnServer(url, "checkpoint");
  const rows = await readFrom(
    withDatabase(url, name),
    `select path, encode(pg_read_binary_file(path), 'hex') as content
     from ${asTable(relations)}, pg_relation_filepath(name::regclass) as path`,
  );
  await runOnServer(url, `create database ${copy} template ${name} strategy file_copy`);
  const [folder] = await readFrom(url, `select oid from pg_database where datname = '${copy}'`);
  for (const { path, content } of rows) {
    const target = String(path).replace(/^base\/\d+/, `base/${folder?.oid}`);
    const damaged = garbage.toString("hex") + String(content).slice(2 * garbage.length);
    await runOnServer(
      url,
      `do $$ declare large oid; begin
         large := lo_from_bytea(0, decode('${damaged}', 'hex'));
         perform lo_export(large, '${target}');
         perform lo_unlink(large);
       end $$`,
    );
  }
  return { ...env, DATABASE_URL: withDatabase(url, copy) };
}

async function readFrom(url: string, statement: string): Promise<Record<string, unknown>[]> {
  await using client = await connectTo(url);
  return await client.query(statement);
}
