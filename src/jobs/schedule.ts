/** Scheduled jobs: each has one row, which is rescheduled to its next run instead of being deleted. */
import { Cron } from "croner";
import { sql } from "kysely";
import type { Queries } from "../database/database.ts";
import { newId } from "../database/id.ts";
import type { JobDefinition } from "./job.ts";

/** The first run after `now`, in UTC. Throws if the pattern is invalid or matches no time. */
export function nextRun(pattern: string, now: Date): Date {
  // An offset, because a named time zone takes ten times as long.
  const next = new Cron(pattern, { utcOffset: 0, mode: "5-part" }).nextRun(now);
  if (!next) {
    throw new Error(`The schedule "${pattern}" matches no time.`);
  }
  return next;
}

/**
 * Adds missing rows. If a pattern now has an earlier time, its row is moved forward if it was never claimed.
 * A claimed row (attempts above 0) stays, because its time is a lease or a retry.
 */
export async function insertSchedules(
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
      values (${newId("job", now)}, ${name}, ${name}, 'null', ${nextRun(schedule, now).toISOString()}, ${name}, ${now.toISOString()})
      on conflict (schedule) do update set run_at = least(jobs.run_at, excluded.run_at)
      where jobs.attempts = 0
    `.execute(queries);
  }
}
