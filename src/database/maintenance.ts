/**
 * What a PostgreSQL server does by itself and the embedded one never does: vacuum, analyze, checkpoint.
 *
 * Without statistics the planner scans: a list of 25 out of 200,000 rows took 37 to 118 ms before its
 * table was analyzed, and 0.25 ms after. Tables are chosen by the server's own rule and taken one by
 * one, so that others have their turn on the only connection in between.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Queries } from "./database.ts";
import type { DatabaseLog } from "./pool.ts";

/** The server's own pause between two looks. */
const pauseMs = 60_000;

/** Looks after the database until it is disposed of. */
export function maintain(queries: Queries, log: DatabaseLog): AsyncDisposable {
  const stopped = new AbortController();
  const done = run(queries, log, stopped.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await done;
    },
  };
}

async function run(queries: Queries, log: DatabaseLog, signal: AbortSignal): Promise<void> {
  let swept = "";
  while (await passed(pauseMs, signal)) {
    try {
      if ((await position(queries)) !== swept) {
        await sweep(queries, signal);
        swept = await position(queries);
      }
    } catch (error) {
      log.warn({ error: String(error) }, "The embedded database could not be tidied; it will be tried again");
    }
  }
}

/** Vacuums what has changed enough, then writes it all to the data files, which keeps the next start short. */
export async function sweep(queries: Queries, signal?: AbortSignal): Promise<void> {
  for (const table of await worn(queries)) {
    if (signal?.aborted) {
      return;
    }
    await sql`vacuum analyze ${sql.table(table)}`.execute(queries);
  }
  await sql`checkpoint`.execute(queries);
}

/** The tables that autovacuum would take at its default settings, and those it has lost count of in a crash. */
async function worn(queries: Queries): Promise<string[]> {
  await sql`select pg_stat_force_next_flush()`.execute(queries);
  const { rows } = await sql<{ name: string }>`
    select stat.relname as name
    from pg_stat_user_tables stat
    join pg_class class on class.oid = stat.relid
    cross join lateral (select greatest(class.reltuples, 0) as count) rows
    where stat.n_dead_tup > 50 + 0.2 * rows.count
      or stat.n_mod_since_analyze > 50 + 0.1 * rows.count
      or stat.n_ins_since_vacuum > 1000 + 0.2 * rows.count
      or (class.reltuples < 0 and pg_relation_size(class.oid) > 0)
  `.execute(queries);
  return rows.map((row) => row.name);
}

/** Where the write-ahead log stands: it moves with every write. */
async function position(queries: Queries): Promise<string> {
  const { rows } = await sql<{ at: string }>`select pg_current_wal_insert_lsn()::text as at`.execute(queries);
  return rows[0]?.at ?? "";
}

async function passed(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { ref: false, signal });
    return true;
  } catch {
    return false;
  }
}
