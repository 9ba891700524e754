/**
 * Vacuum, analyze and checkpoint for the embedded engine, which has no background processes.
 *
 * Without statistics the planner reads whole tables: a list of 25 out of 200,000 rows took 37 to 118 ms
 * before its table was analyzed, and 0.25 ms after. Tables are selected by the thresholds of autovacuum and
 * processed one by one, so that other queries can use the only connection in between.
 */
import { sql } from "kysely";
import type { Log } from "../../ports/telemetry/log.ts";
import type { Queries } from "../database.ts";
import { rowsOf } from "../query/index.ts";
import { repeat } from "../statistics.ts";

/** The default of autovacuum_naptime. */
const intervalMs = 60_000;

/** Runs until it is disposed, or the database is damaged. */
export function startMaintenance(queries: Queries, log: Log, damaged: AbortSignal): AsyncDisposable {
  let maintainedAt = "";
  const maintain = async (signal: AbortSignal) => {
    if (!damaged.aborted && (await walPosition(queries)) !== maintainedAt) {
      await vacuumChanged(queries, signal);
      maintainedAt = await walPosition(queries);
    }
  };
  return repeat(intervalMs, maintain, {
    log,
    failure: "Maintenance of the embedded database failed and will be retried",
  });
}

/** Vacuums the tables that changed enough, then writes a checkpoint, which keeps the next start short. */
export async function vacuumChanged(queries: Queries, signal?: AbortSignal): Promise<void> {
  for (const table of await findChanged(queries)) {
    if (signal?.aborted) {
      return;
    }
    await sql`vacuum analyze ${sql.table(table)}`.execute(queries);
  }
  await sql`checkpoint`.execute(queries);
}

/**
 * The tables that autovacuum would process at its default settings, and tables without statistics after a
 * crash.
 */
async function findChanged(queries: Queries): Promise<string[]> {
  await sql`select pg_stat_force_next_flush()`.execute(queries);
  const { rows } = await rowsOf({ name: "text" })`
    select stat.relname::text as name
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

/** The position of the write-ahead log, which advances with every write. */
async function walPosition(queries: Queries): Promise<string> {
  const { rows } = await rowsOf({ at: "text" })`select pg_current_wal_insert_lsn()::text as at`.execute(
    queries,
  );
  return rows[0]?.at ?? "";
}
