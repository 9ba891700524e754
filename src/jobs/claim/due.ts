/** Finds out whether a priority has a job to claim, and when its next job becomes due. */
import { sql } from "kysely";
import type { Queries } from "../../database/database.ts";
import { nullable, rowsOf } from "../../database/query/index.ts";
import type { Priority } from "../job.ts";
import { type LaneRange, lanesIn, rangeOf } from "../priority.ts";
import { nextStart } from "./pace.ts";

/**
 * When the next job becomes due, or the rate of a lane allows a due job to start; undefined if there is no
 * job. With `isScheduled` false, jobs that repeat by themselves are left out.
 */
export async function nextDueAt(
  queries: Queries,
  priority: Priority,
  { now, isScheduled }: { readonly now: Date; readonly isScheduled: boolean },
): Promise<Date | undefined> {
  const { rows } = await rowsOf({ at: nullable("timestamptz") })`
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

/** Which priorities have a due job; not every such job can be claimed. */
export async function findDue(queries: Queries, now: Date): Promise<Readonly<Record<Priority, boolean>>> {
  const hasDue = ({ after, end }: LaneRange) => sql`exists (
    select from jobs where lane > ${after} and lane < ${end} and run_at <= ${now.toISOString()}
  )`;
  const { rows } = await rowsOf({ normal: "boolean", bulk: "boolean" })`
    select ${hasDue(rangeOf("normal"))} as normal, ${hasDue(rangeOf("bulk"))} as bulk
  `.execute(queries);
  return rows[0] ?? { normal: false, bulk: false };
}
