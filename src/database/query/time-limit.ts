/** Limits the time of reads whose cost depends on the caller's input. */
import { sql } from "kysely";
import type { Database, Queries } from "../database.ts";
import { sqlState } from "../outage/index.ts";
import { FairQueue } from "../sharing/index.ts";

const limitMs = 3_000;

/** A read took longer than its limit. */
export class ReadTimeoutError extends Error {
  override readonly name = "ReadTimeoutError";
}

/**
 * Slow reads are limited to far fewer than there are connections, so that other reads find a free connection.
 * Further slow reads wait in a queue.
 */
const slowReads = { size: 2, timeoutMs: 10_000, place: "place for a slow read" };

/** Settings of the transaction only: a pooler would pass settings of the session to other clients. */
const settings = {
  // Without parallel workers: starting them takes 10 ms, and the planner would use them for a search, because
  // the function of a search has a high cost.
  search: { max_parallel_workers_per_gather: "0" },
  // Such reads read most rows of a table once. Compiling would take longer than it saves. More memory keeps
  // the conversations of an organization in one hash table; otherwise each row would search them.
  scan: { jit: "off", work_mem: "64MB" },
} as const;

const queues = new WeakMap<Database, FairQueue>();

/**
 * Runs a read that the server cancels after three seconds. Few such reads run at once. The embedded engine
 * can't cancel a statement, so with this engine the query itself must limit its work.
 * @throws ReadTimeoutError, NoFreePlaceError
 */
export async function withTimeLimit<Result>(
  database: Database,
  read: (db: Queries) => Promise<Result>,
  kind: keyof typeof settings = "search",
): Promise<Result> {
  if (database.engine === "embedded") {
    return read(database.queries);
  }
  const queue = queues.get(database) ?? new FairQueue(slowReads);
  queues.set(database, queue);
  const release = await queue.acquire();
  try {
    return await database.transaction(async (tx) => {
      const values = Object.entries({ statement_timeout: String(limitMs), ...settings[kind] });
      const calls = values.map(([name, value]) => sql`set_config(${name}::text, ${value}::text, true)`);
      await sql`select ${sql.join(calls)}`.execute(tx);
      return read(tx);
    });
  } catch (error) {
    throw sqlState(error) === "57014"
      ? new ReadTimeoutError(`A read took longer than ${limitMs} ms.`, { cause: error })
      : error;
  } finally {
    release();
  }
}
