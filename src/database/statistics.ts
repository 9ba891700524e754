/**
 * Keeps the planner's statistics of tables that grow fast.
 *
 * Until a table is analyzed, the planner expects it to be as small as it was before, and statements that keep
 * their plans keep plans for a small table. Autovacuum analyzes after a minute at the earliest, and not every
 * server runs it: until then a message cost twice as much processor time in a new database. ANALYZE also
 * makes kept plans invalid.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Log } from "../ports/telemetry/log.ts";
import type { Queries } from "./database.ts";
import { withoutStatementLimit } from "./outage/index.ts";
import { rowsOf } from "./query/index.ts";

const intervalMs = 5_000;
/** By how much a table has grown since it was analyzed. */
const growth = 10;
/** So few rows need no statistics. */
const fewRows = 100;

/** Analyzes tables that have grown, every five seconds, until it is disposed. */
export function startStatistics(queries: Queries, log: Log): AsyncDisposable {
  return repeat(intervalMs, (signal) => analyzeGrown(queries, signal), {
    log,
    failure: "Tables that have grown could not be analyzed; this will be retried",
  });
}

/**
 * Analyzes the tables that have ten times as many pages as when they were last analyzed or vacuumed, or ten
 * times as many rows: an ANALYZE that runs while a transaction fills a table counts the pages, but no row.
 */
export async function analyzeGrown(queries: Queries, signal?: AbortSignal): Promise<void> {
  const { rows } = await rowsOf({ name: "text" })`
    select relname::text as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r'
      and (
        pg_relation_size(oid) > ${growth} * greatest(relpages, 1) * current_setting('block_size')::bigint
        or pg_stat_get_live_tuples(oid) > ${growth} * greatest(reltuples, ${fewRows})
      )
  `.execute(queries);
  for (const { name } of rows) {
    if (signal?.aborted) {
      return;
    }
    await sql`analyze ${sql.table(name)}`.execute(queries);
  }
}

interface RepeatOptions {
  readonly log: Log;
  /** The warning that is logged with the error of a run. */
  readonly failure: string;
}

/** Runs `work`, which has no statement limit, at this interval until the result is disposed. */
export function repeat(
  intervalMs: number,
  work: (signal: AbortSignal) => Promise<void>,
  { log, failure }: RepeatOptions,
): AsyncDisposable {
  const stopped = new AbortController();
  const run = async () => {
    while (await elapsed(intervalMs, stopped.signal)) {
      try {
        await work(stopped.signal);
      } catch (error) {
        log.warn({ error: String(error) }, failure);
      }
    }
  };
  const done = withoutStatementLimit(run);
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await done;
    },
  };
}

/** Returns false if the signal aborted. */
async function elapsed(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { ref: false, signal });
    return true;
  } catch {
    return false;
  }
}
