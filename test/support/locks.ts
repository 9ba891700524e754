/** Runs calls that wait for rows that another transaction has locked. PostgreSQL alone. */
import { sql } from "kysely";
import { expect } from "vitest";
import type { DatabaseTransaction, Queries } from "../../src/database/database.ts";
import type { TestApp } from "./app.ts";

/**
 * Locks rows, starts each call when the one before it waits, commits when the last one waits, and returns
 * when all calls have ended.
 */
export async function commitWhenWaiting(
  app: TestApp,
  lock: (tx: DatabaseTransaction) => Promise<unknown>,
  calls: readonly (() => Promise<unknown>)[],
): Promise<void> {
  const { database } = app.server;
  const running: Promise<unknown>[] = [];
  await database.transaction(async (tx) => {
    await lock(tx);
    for (const call of calls) {
      const promise = call();
      // It is awaited after the commit.
      promise.catch(() => undefined);
      running.push(promise);
      await expect.poll(() => countWaiting(database.queries)).toBe(running.length);
    }
  });
  await Promise.all(running);
}

async function countWaiting(queries: Queries): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
  `.execute(queries);
  return rows.length;
}
