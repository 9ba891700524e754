/**
 * Claims due jobs.
 *
 * There is no state "running". A claim counts the attempt and moves `run_at` to the end of a lease, so the
 * rows of a process that dies become due again without further action; `releaseJobs` makes them due earlier,
 * when the table of processes shows the death. `claims` only increases and proves ownership: a process that
 * takes over a job increases it, and updates of the previous owner match no row.
 *
 * The jobs of a suspended organization are not claimed. Every claim reads `suspended_organizations`, without
 * a cache: a suspension holds in all processes from its commit on, and ends with the commit that removes it.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseTransaction, Queries } from "../../database/database.ts";
import { rowsOf } from "../../database/query/index.ts";
import type { Priority } from "../job.ts";
import type { Capacity } from "../lanes.ts";
import { laneNameOf, lanesIn, rangeOf } from "../priority.ts";
import { recordStarts, roomInLane } from "./pace.ts";

export { findDue, nextDueAt } from "./due.ts";
export { moveStart } from "./move-start.ts";
export { setPace } from "./pace.ts";

/** A job that this process has claimed. */
export interface ClaimedJob {
  readonly id: string;
  readonly name: string;
  /** The stored name: the lane of a bulk job begins with "~". */
  readonly lane: string;
  readonly key: string | null;
  readonly organization_id: string | null;
  readonly payload: unknown;
  /** Including this attempt. */
  readonly attempts: number;
  /** Proves ownership. */
  readonly claims: number;
  /** The job's `run_at` before the claim. */
  readonly due_at: string;
  /** Whether the previous claim did not end. */
  readonly is_takeover: boolean;
  /** The start that counts towards the rate of its lane; null if the lane has no rate. */
  readonly started_at: string | null;
  readonly traceparent: string | null;
}

export interface Claim extends Capacity {
  readonly now: Date;
  readonly priority: Priority;
  /** This process in the table of processes; null if it writes no heartbeat. */
  readonly process: string | null;
  /** The claim begins after this lane. In the first claim, this is the start of the priority's range. */
  readonly after: string;
  /** The end of the lease by job name, for every job that this version can run. */
  readonly leases: Readonly<Record<string, string>>;
  /** Jobs that already run in this process. */
  readonly ids: readonly string[];
  /** The keys of the jobs that already run in this process. */
  readonly keys: readonly string[];
  /** The names of the jobs that also run for a suspended organization. */
  readonly runWhileSuspended: readonly string[];
}

interface ClaimResult {
  readonly jobs: readonly ClaimedJob[];
  /**
   * Whether another transaction had locked the rate of a lane that has due jobs. Then the claim must be
   * repeated soon.
   */
  readonly isContended: boolean;
}

/**
 * Claims jobs of one priority, lane by lane: in each lane the jobs that have been due for longest, at most as
 * many as its rate allows. The result is sorted by lane. A job with a key is not claimed while an earlier job
 * with the same key is in the table.
 *
 * One statement with these CTEs:
 * - `lanes`, from `lanesIn`: the lanes that have jobs.
 * - `suspended`: one array with the suspended organizations.
 * - `ready`: the jobs that may start now, locked. A lane whose rate is locked yields one row with a null id.
 * - `started`, from `recordStarts`: counts the starts of the jobs in `ready` against the rates of their
 *   lanes.
 * - `claimed`: claims the jobs in `ready`.
 *
 * `is_takeover`: a process that ends an attempt sets `claimed_by` to null. A process of an older version does
 * not set `claimed_number`, so `claimed_by` counts only while `claimed_number` equals `claims`.
 */
export async function claimJobs(tx: DatabaseTransaction, claim: Claim): Promise<ClaimResult> {
  const leases = JSON.stringify(claim.leases);
  const { rows } = await sql<ClaimedJob | { readonly id: null }>`
    with recursive ${lanesIn({ ...rangeOf(claim.priority), after: claim.after })},
    suspended (ids) as materialized (
      select array(select organization_id from suspended_organizations)
    ),
    ready as materialized (
      select job.id, lanes.lane, job.run_at, job.is_takeover
      from lanes
      -- "offset 0" keeps the planner from inlining "room": each use would evaluate it again and lock the row of
      -- the rate again.
      cross join lateral (select ${roomFor(claim)} as count offset 0) as room
      left join lateral (
        select id, run_at, (claimed_by is not null and claimed_number = claims) as is_takeover from jobs as job
        where job.lane = lanes.lane
          and job.run_at <= ${claim.now.toISOString()}
          and job.name = any(${Object.keys(claim.leases)}::text[])
          and job.id <> all(${claim.ids}::text[])
          and (job.key is null or (
            job.key <> all(${claim.keys}::text[])
            and not exists (select from jobs as earlier where earlier.key = job.key and earlier.id < job.id)
          ))
        order by job.run_at
        limit greatest(0, room.count)
        for update skip locked
      ) as job on true
      where job.id is not null or room.count < 0
      limit ${claim.limit}
    ),
    ${recordStarts(claim.now)},
    claimed as (
      update jobs set attempts = attempts + 1, claims = claims + 1, run_at = (${leases}::jsonb ->> name)::timestamptz,
        claimed_by = ${claim.process}::text, claimed_number = claims + 1
      where id = any(array(select id from ready))
      returning id, name, lane, key, organization_id, payload, attempts, claims, traceparent
    )
    select claimed.*, ready.run_at as due_at, ready.is_takeover, started.at as started_at
    from ready left join claimed using (id) left join started on started.lane = ${laneNameOf(sql`ready.lane`)}
    order by ready.lane, id
  `.execute(tx);
  const jobs = rows.flatMap((row) => (row.id === null ? [] : [row]));
  return { jobs, isContended: jobs.length < rows.length };
}

/**
 * How many jobs of the lane may start now; -1 if another transaction has locked its rate. `roomInLane` is
 * null for a lane without a rate, and `least` ignores null.
 */
function roomFor({
  priority,
  now,
  fullOrganizations,
  runWhileSuspended,
  ...claim
}: Claim): RawBuilder<unknown> {
  const freeSlots = sql`coalesce((${JSON.stringify(claim.freeByLane)}::jsonb ->> lanes.lane)::int, ${claim.perLane}::int)`;
  // The last branch locks the rate of the lane, so lanes without a free slot end before it.
  return sql`case
    when ${isOfAny(fullOrganizations)} or ${isSuspended(runWhileSuspended)} then 0
    when ${freeSlots} = 0 then 0
    else least(${freeSlots}, ${roomInLane(priority, now)}) end`;
}

/**
 * Whether the lane belongs to one of the organizations: all jobs of a lane have one organization, so the
 * first job decides.
 */
const isOfAny = (organizations: readonly string[]) => sql`
  cardinality(${organizations}::text[]) > 0 and coalesce((
    select organization_id from jobs where jobs.lane = lanes.lane order by run_at limit 1
  ) = any(${organizations}::text[]), false)`;

/**
 * Whether the lane belongs to a suspended organization, and its jobs do not run meanwhile: all jobs of a lane
 * have one organization and are of one kind, so the first job decides.
 */
const isSuspended = (runWhileSuspended: readonly string[]) => sql`
  (select cardinality(ids) > 0 from suspended) and coalesce((
    select organization_id = any((select ids from suspended)::text[]) and name <> all(${runWhileSuspended}::text[])
    from jobs where jobs.lane = lanes.lane order by run_at limit 1
  ), false)`;

/** The names of jobs in the table that are not among `names`. */
export async function findUnknownNames(queries: Queries, names: readonly string[]): Promise<string[]> {
  const { rows } = await rowsOf({ name: "text" })`
    select distinct name from jobs where name <> all(${names}::text[]) order by name
  `.execute(queries);
  return rows.map(({ name }) => name);
}
