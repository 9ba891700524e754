/** How much work waits, for whoever watches: cheap enough to be asked every few seconds. */
import { sql } from "kysely";
import type { Queries } from "../database/database.ts";
import type { Gauges } from "../ports/telemetry.ts";
import { lanesAfter } from "./queue.ts";

/** A lane that is longer is simply long; counting it whole would cost more than it tells. */
const longestCounted = 10_000;

/** Jobs that run count as later: they come due when their lease ends. */
export async function readFigures(queries: Queries, now: Date): Promise<Gauges> {
  const time = now.toISOString();
  const lanes = await sql<Gauges["lanes"][number]>`
    with recursive ${lanesAfter("")}
    select split_part(turn.lane, ':', 1) as group, sum(counted.due)::int as due, sum(counted.later)::int as later,
      coalesce(extract(epoch from ${time}::timestamptz - min(counted.oldest)), 0)::float8 as "oldestSeconds"
    from turn cross join lateral (
      select count(*) filter (where run_at <= ${time}) as due, count(*) filter (where run_at > ${time}) as later,
        min(run_at) filter (where run_at <= ${time}) as oldest
      from (
        select run_at from jobs where jobs.lane = turn.lane order by run_at limit ${longestCounted}
      ) as first
    ) as counted
    where turn.lane is not null
    group by 1 order by 1
  `.execute(queries);
  const dead = await sql<Gauges["dead"][number]>`
    select name, count(*)::int as count
    from (select name from dead_jobs limit ${longestCounted}) as first group by name order by name
  `.execute(queries);
  return { lanes: lanes.rows, dead: dead.rows };
}
