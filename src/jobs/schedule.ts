/** Jobs that come by the clock: one row for each, which moves to its next time instead of going. */
import { Cron } from "croner";
import { sql } from "kysely";
import type { Queries } from "../database/database.ts";
import { newId } from "../database/id.ts";
import type { JobDefinition } from "./job.ts";

/** The first time after `now`, in UTC; throws if the pattern is wrong or never comes. */
export function nextTime(pattern: string, now: Date): Date {
  const next = new Cron(pattern, { timezone: "UTC", mode: "5-part" }).nextRun(now);
  if (!next) {
    throw new Error(`The schedule "${pattern}" never comes.`);
  }
  return next;
}

/**
 * Adds the rows that are absent. One that waits untouched is pulled forward if its pattern now says so; one
 * that has been claimed (attempts above 0) is left, since its time is a lease or a retry.
 */
export async function plantSchedules(
  queries: Queries,
  definitions: readonly JobDefinition[],
  now: Date,
): Promise<void> {
  for (const { name, schedule } of definitions) {
    if (schedule === undefined) {
      continue;
    }
    await sql`
      insert into jobs (id, name, lane, payload, run_at, schedule, created_at)
      values (${newId("job", now)}, ${name}, ${name}, 'null', ${nextTime(schedule, now).toISOString()}, ${name}, ${now.toISOString()})
      on conflict (schedule) do update set run_at = least(jobs.run_at, excluded.run_at)
      where jobs.attempts = 0
    `.execute(queries);
  }
}
