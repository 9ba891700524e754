/**
 * The table of jobs: every statement that adds, takes, moves or ends one.
 *
 * There is no state "running". Taking a job counts the attempt and moves its time forward by a lease: a
 * process that dies leaves rows that come due by themselves. How often a job was taken only rises, and is the
 * proof of holding it: whoever takes it over changes that number, and the former holder finds no row.
 */
import { sql } from "kysely";
import type { Queries, Transaction } from "../database/database.ts";
import { newId } from "../database/id.ts";
import type { NewJob } from "./job.ts";
import type { Share } from "./lanes.ts";

/** A job that this process has taken. */
export interface ClaimedJob {
  readonly id: string;
  readonly name: string;
  readonly lane: string;
  readonly key: string | null;
  readonly organization_id: string | null;
  readonly payload: unknown;
  /** This attempt included. */
  readonly attempts: number;
  /** The proof of holding it. */
  readonly claims: number;
  /** When it was ready, before it was taken. */
  readonly due_at: string;
  readonly traceparent: string | null;
}

/** A job that is moved to another time. */
export interface Move {
  readonly id: string;
  /** Its claims when it was taken. */
  readonly claimed: number;
  readonly run_at: string;
  readonly attempts: number;
}

/** What becomes of a job's row when its run has ended: it moves, or it goes. */
export type Settlement = Move | { readonly id: string; readonly run_at?: undefined };

export interface Claim extends Share {
  readonly now: Date;
  /** Begin behind this lane; "" for the first. */
  readonly after: string;
  /** Until when, for each name of a job that we can run. */
  readonly leases: Readonly<Record<string, string>>;
  /** What runs in this process already. */
  readonly ids: readonly string[];
  readonly keys: readonly string[];
}

/** Adds jobs, however many, in one statement. */
export async function addJobs(tx: Transaction, jobs: readonly NewJob[], now: Date): Promise<void> {
  // An empty lane would be passed over: claims begin behind "".
  const rows = jobs.map(({ name, lane, key, organization_id, payload, runAt = now, traceparent }) => ({
    id: newId("job", now),
    ...{ name, lane: lane || name, key, organization_id, payload },
    run_at: runAt.toISOString(),
    traceparent,
  }));
  // A JSON null arrives as SQL's.
  await sql`
    insert into jobs (id, name, lane, key, organization_id, payload, run_at, traceparent, created_at)
    select id, name, lane, key, organization_id, coalesce(payload, 'null'), run_at, traceparent, ${now.toISOString()}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as row (id text, name text, lane text, key text, organization_id text, payload jsonb, run_at timestamptz, traceparent text)
  `.execute(tx);
}

/**
 * The jobs, without the shared ones for which another of their key and payload will do. That one is held until
 * the commit, so that it can't begin before; one that is being taken just now is locked, and passed over here.
 */
export async function withoutWaiting(tx: Transaction, jobs: readonly NewJob[], now: Date): Promise<NewJob[]> {
  const shared = jobs.filter(({ isShared, key }) => isShared && key !== undefined);
  if (shared.length === 0) {
    return [...jobs];
  }
  const wanted = shared.map(({ key, payload }, place) => ({ place, key, payload }));
  // The keys are given twice: a join alone may be planned to begin with the whole table.
  const { rows } = await sql<{ place: number }>`
    select wanted.place
    from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as wanted (place integer, key text, payload jsonb)
    join jobs on jobs.key = wanted.key and jobs.payload = coalesce(wanted.payload, 'null')
    where jobs.key = any(${shared.map(({ key }) => key)}::text[])
      and claims = 0 and run_at <= ${now.toISOString()}::timestamptz
    for share of jobs skip locked
  `.execute(tx);
  const waiting = new Set(rows.map(({ place }) => shared[place]));
  return jobs.filter((job) => !waiting.has(job));
}

/**
 * Plans are kept by connection and text, and the table is often empty when they are made: a plan that reads
 * an empty table whole still does so at 100,000 rows (1,800 ms for one claim, against 1 ms by index).
 */
export async function keepToIndexes(tx: Transaction): Promise<void> {
  await sql`
    select set_config(name, 'off', true)
    from unnest(array['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']) as name
  `.execute(tx);
}

/** The lanes after this one, one look into the index each. */
export const lanesAfter = (after: string) => sql`
  turn (lane) as (
    (select lane from jobs where lane > ${after} order by lane limit 1)
    union all
    select (select jobs.lane from jobs where jobs.lane > turn.lane order by jobs.lane limit 1)
    from turn where turn.lane is not null
  )`;

/**
 * Takes what is ready, lane by lane and in each the longest due first, sorted by lane. A job with a key
 * waits while an earlier one with its key is in the table, so of each key only the first can be ready.
 */
export async function claimJobs(tx: Transaction, claim: Claim): Promise<ClaimedJob[]> {
  const leases = JSON.stringify(claim.leases);
  const { rows } = await sql<ClaimedJob>`
    with recursive ${lanesAfter(claim.after)},
    ready as materialized (
      select job.id, job.run_at from turn cross join lateral (
        select id, run_at from jobs as job
        where job.lane = turn.lane
          and job.run_at <= ${claim.now.toISOString()}
          and job.name = any(${Object.keys(claim.leases)}::text[])
          and job.id <> all(${claim.ids}::text[])
          and (job.key is null or (
            job.key <> all(${claim.keys}::text[])
            and not exists (select from jobs as earlier where earlier.key = job.key and earlier.id < job.id)
          ))
        order by job.run_at
        limit coalesce((${JSON.stringify(claim.room)}::jsonb ->> turn.lane)::int, ${claim.perLane}::int)
        for update skip locked
      ) as job
      limit ${claim.limit}
    ),
    taken as (
      update jobs set attempts = attempts + 1, claims = claims + 1, run_at = (${leases}::jsonb ->> name)::timestamptz
      where id = any(array(select id from ready))
      returning id, name, lane, key, organization_id, payload, attempts, claims, traceparent,
        (select ready.run_at from ready where ready.id = jobs.id) as due_at
    )
    select * from taken order by lane, id
  `.execute(tx);
  return rows;
}

/**
 * Ends and moves jobs, however many, in one statement each. What is done is done, whoever holds it now; a job
 * that someone else has taken is moved by them alone.
 */
export async function settleJobs(tx: Transaction, settlements: readonly Settlement[]): Promise<void> {
  const done = settlements.filter((one) => one.run_at === undefined).map(({ id }) => id);
  if (done.length > 0) {
    await sql`delete from jobs where id = any(${done}::text[])`.execute(tx);
  }
  const moves = settlements.filter((one) => one.run_at !== undefined);
  if (moves.length === 0) {
    return;
  }
  // Those behind it by its key can't begin before it: moved along, they need not be passed over in every claim.
  // "is true" keeps the planner from other indexes than the key's, which look as good while the table is empty.
  await sql`
    with moved as (${moving(moves)} returning jobs.key, jobs.id, jobs.run_at)
    update jobs set run_at = moved.run_at from moved
    where jobs.key = moved.key and (jobs.id > moved.id and jobs.run_at < moved.run_at) is true
  `.execute(tx);
}

/** Keeps what runs from others for longer. */
export async function renewJobs(tx: Transaction, renewals: readonly Move[]): Promise<void> {
  if (renewals.length > 0) {
    await moving(renewals).execute(tx);
  }
}

/** The ids are given twice: a join alone may be planned to begin with the whole table. */
const moving = (moves: readonly Move[]) => sql`
  update jobs set run_at = move.run_at, attempts = move.attempts
  from jsonb_to_recordset(${JSON.stringify(moves)}::jsonb)
    as move (id text, claimed integer, run_at timestamptz, attempts integer)
  where jobs.id = any(${moves.map(({ id }) => id)}::text[]) and jobs.id = move.id and jobs.claims = move.claimed`;

/** When the next job comes due, if one waits. */
export async function nextDue(tx: Transaction, now: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ run_at: string | null }>`
    with recursive ${lanesAfter("")}
    select min(soonest.run_at) as run_at from turn cross join lateral (
      select run_at from jobs
      where jobs.lane = turn.lane and run_at > ${now.toISOString()} order by run_at limit 1
    ) as soonest
  `.execute(tx);
  const time = rows[0]?.run_at;
  return time ? new Date(time) : undefined;
}

/** Lays a job with the dead, unless someone else has taken it. */
export async function buryJob(tx: Transaction, job: ClaimedJob, error: string, now: Date): Promise<void> {
  await sql`
    with dead as (delete from jobs where id = ${job.id} and claims = ${job.claims} returning *)
    insert into dead_jobs (id, name, lane, key, organization_id, payload, attempts, error, created_at, died_at)
    select id, name, lane, key, organization_id, payload, attempts, ${error}, created_at, ${now.toISOString()}::timestamptz
    from dead
  `.execute(tx);
}

/** The names in the table that are not among these. */
export async function unknownNames(queries: Queries, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct name from jobs where name <> all(${names}::text[]) order by name
  `.execute(queries);
  return rows.map(({ name }) => name);
}
