/** Databases to restore into, and comparisons of what they hold. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { openDatabase } from "../../src/database/connect.ts";
import { silentLog } from "./app.ts";
import { queryOf } from "./database.ts";
import { runOnServer, serverUrl, withDatabase } from "./postgres.ts";

type Settings = Readonly<Record<string, string>>;

export interface RestoreTarget extends AsyncDisposable {
  readonly name: string;
  /** The settings that select it. */
  readonly env: Settings;
}

/** A new folder of this test run. */
export async function createFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(inject("folder"), "backup-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export async function createEmbeddedTarget(): Promise<RestoreTarget> {
  const folder = await createFolder();
  return {
    name: "embedded",
    env: { TIDINGS_DATA_DIR: folder.path },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** An empty database on the server of this test run; undefined without a server. */
export async function createPostgresTarget(): Promise<RestoreTarget | undefined> {
  if (serverUrl === undefined) {
    return undefined;
  }
  const folder = await createFolder();
  // Dropped at the end of the run, with the databases that are named like it.
  const name = `${inject("template")}_${randomBytes(6).toString("hex")}`;
  await runOnServer(serverUrl, `create database ${name}`);
  return {
    name: "postgres",
    env: { TIDINGS_DATA_DIR: folder.path, DATABASE_URL: withDatabase(serverUrl, name) },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** On the server of this test run, or embedded without one. */
export const createTarget = async (): Promise<RestoreTarget> =>
  (await createPostgresTarget()) ?? (await createEmbeddedTarget());

/** A digest of the rows of every table, by its name. */
export async function digestTables(
  { TIDINGS_DATA_DIR: dataDir = "", DATABASE_URL: url }: Settings,
  leftOut: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, unknown>>> {
  await using database = await openDatabase({ url, dataDir, log: silentLog });
  const query = queryOf(database);
  await query("set timezone = 'UTC'");
  const tables = await query(`
    select relname::text as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'
      and relname not like 'kysely%' and relname <> 'processes' order by relname
  `);
  const digests: Record<string, unknown> = {};
  for (const { name } of tables) {
    const condition = leftOut[String(name)] ?? "false";
    const [row] = await query(`
      select count(*)::int as count, md5(string_agg(line, ',' order by line collate "C")) as digest
      from (
        -- Ids of transactions are those of the server.
        select (to_jsonb(row) - 'transaction_id')::text as line from ${name} as row where not (${condition})
      ) as lines
    `);
    digests[String(name)] = row;
  }
  return digests;
}
