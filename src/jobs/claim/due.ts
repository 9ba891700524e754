/** Finds out when a priority has its next job to claim. */
import { sql } from "kysely";
import type { Queries } from "../../database/database.ts";
import type { Priority } from "../job.ts";
import { lanesIn, rangeOf } from "../priority.ts";
import { nextStart } from "./pace.ts";

/**
 * When the next job becomes due, or the rate of a lane allows one that is; undefined without one. `isScheduled` false
 * leaves out the jobs that repeat by themselves.
 */
export async function nextDueAt(
  queries: Queries,
  priority: Priority,
  { now, isScheduled }: { readonly now: Date; readonly isScheduled: boolean },
): Promise<Date | undefined> {
  const { rows } = await sql<{ at: string | null }>`
    with recursive ${lanesIn(rangeOf(priority))}
    select min(next.at) as at from lanes cross join lateral (
      (
        select run_at as at from jobs
        where jobs.lane = lanes.lane and run_at > ${now.toISOString()} and (schedule is null or ${isScheduled}::boolean)
        order by run_at limit 1
      )
      union all
      (${nextStart(priority, now)})
    ) as next
    where next.at > ${now.toISOString()}
  `.execute(queries);
  const time = rows[0]?.at;
  return time ? new Date(time) : undefined;
}
