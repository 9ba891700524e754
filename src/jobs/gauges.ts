/** Reads the length of the queue for the metrics endpoint; cheap enough to run every few seconds. */
import { sql } from "kysely";
import type { Database, Queries } from "../database/database.ts";
import { rowsOf } from "../database/query/index.ts";
import type { Clock } from "../ports/clock.ts";
import type { GaugeSources, Gauges } from "../ports/telemetry/telemetry.ts";
import type { SharedClock } from "../time/shared-clock.ts";
import { allLanes, isBulkLane, laneNameOf, lanesIn } from "./priority.ts";

/** The longest length that is reported: an exact count would cost more than it is worth. */
const maxCounted = 10_000;

interface GaugedProcess {
  readonly database: Database;
  readonly now: Clock;
  readonly sharedClock: SharedClock | undefined;
}

export const gaugeSources = ({ database, now, sharedClock }: GaugedProcess): GaugeSources => ({
  gauges: () => readGauges(database.queries, now()),
  pool: database.pool,
  machineAheadMs: () => sharedClock?.machineAheadMs,
});

/**
 * Running jobs count as not due yet, because their `run_at` is the end of their lease. So do the jobs of
 * suspended organizations, which wait until the organization is resumed: they are no sign of a slow queue.
 */
export async function readGauges(queries: Queries, now: Date): Promise<Gauges> {
  const time = now.toISOString();
  const lanes = await rowsOf({
    group: "text",
    isBulk: "boolean",
    due: "integer",
    later: "integer",
    oldestSeconds: "double precision",
  })`
    with recursive ${lanesIn(allLanes)}
    select split_part(${laneNameOf(sql`lanes.lane`)}, ':', 1) as group,
      ${isBulkLane(sql`lanes.lane`)} as "isBulk", sum(counted.due)::int as due, sum(counted.later)::int as later,
      coalesce(extract(epoch from ${time}::timestamptz - min(counted.oldest)), 0)::float8 as "oldestSeconds"
    from lanes cross join lateral (
      select count(*) filter (where is_due) as due, count(*) filter (where not is_due) as later,
        min(run_at) filter (where is_due) as oldest
      from (
        select run_at, run_at <= ${time} and not coalesce(
          organization_id = any(array(select organization_id from suspended_organizations)), false) as is_due
        from jobs where jobs.lane = lanes.lane order by run_at limit ${maxCounted}
      ) as first
    ) as counted
    where lanes.lane is not null
    group by 1, 2 order by 1, 2
  `.execute(queries);
  const dead = await rowsOf({ name: "text", count: "integer" })`
    select name, count(*)::int as count
    from (select name from dead_jobs limit ${maxCounted}) as first group by name order by name
  `.execute(queries);
  return { lanes: lanes.rows, deadLetters: dead.rows };
}

/** How many jobs of this name wait for another attempt after one that failed. */
export async function countFailing(queries: Queries, name: string): Promise<number> {
  const { rows } = await rowsOf({ count: "integer" })`
    select count(*)::integer as count from jobs where name = ${name} and attempts > 0
  `.execute(queries);
  return rows[0]?.count ?? 0;
}
