/**
 * Where the jobs of each priority are stored.
 *
 * A bulk job is stored in a lane of its own: "~" and the name of its lane, which sorts after every other
 * lane. So each priority is a range of lanes in the index, and due jobs of one priority do not slow down
 * claims of the other. An older version treats the bulk jobs of a lane as a separate lane.
 */
import { type RawBuilder, sql } from "kysely";
import type { Priority } from "./job.ts";

const bulkPrefix = "~";

/** The lanes after `after` and before `end`. */
export interface LaneRange {
  readonly after: string;
  readonly end: string;
}

/** DEL is the character after "~". */
const bulkEnd = "\u007f";
const ranges: Readonly<Record<Priority, LaneRange>> = {
  normal: { after: "", end: bulkPrefix },
  bulk: { after: bulkPrefix, end: bulkEnd },
};

/** All lanes of both priorities. */
export const allLanes: LaneRange = { after: "", end: bulkEnd };

/** The lanes of a priority. */
export function rangeOf(priority: Priority): LaneRange {
  return ranges[priority];
}

/**
 * The name under which jobs of a lane are stored. Throws for a name outside the range, whose jobs would never
 * be claimed.
 */
export function storedLane(lane: string, priority: Priority): string {
  const { after, end } = ranges.normal;
  if (lane <= after || lane >= end) {
    throw new RangeError(`A lane cannot have the name "${lane}".`);
  }
  return priority === "bulk" ? bulkPrefix + lane : lane;
}

/** The names under which the jobs of a lane are stored, for both priorities. */
export function storedLanes(lane: string): readonly string[] {
  return [storedLane(lane, "normal"), storedLane(lane, "bulk")];
}

/** The lane's name from the name under which a job is stored. */
export function laneOfStored(stored: string): string {
  return stored.startsWith(bulkPrefix) ? stored.slice(bulkPrefix.length) : stored;
}

/** The lane's name, in SQL, from the name under which a job is stored. */
export const laneNameOf = (stored: RawBuilder<unknown>) => sql`ltrim(${stored}, ${sql.lit(bulkPrefix)})`;

/** Whether jobs of this stored name are bulk jobs, in SQL. */
export const isBulkLane = (stored: RawBuilder<unknown>) =>
  sql`starts_with(${stored}, ${sql.lit(bulkPrefix)})`;

/** A recursive CTE of the distinct lanes of the range: one index lookup for each instead of a full scan. */
export const lanesIn = ({ after, end }: LaneRange) => sql`
  lanes (lane) as (
    (select lane from jobs where lane > ${after} and lane < ${end} order by lane limit 1)
    union all
    select (select jobs.lane from jobs where jobs.lane > lanes.lane and jobs.lane < ${end} order by jobs.lane limit 1)
    from lanes where lanes.lane is not null
  )`;
