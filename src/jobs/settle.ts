/**
 * What happens to the rows of claimed jobs: deleted, rescheduled, renewed, or moved to the dead-letter queue.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseTransaction } from "../database/database.ts";
import { columnOf, columnsOf, matchesKey, recordset } from "../database/query/index.ts";
import { together } from "../database/transaction.ts";
import type { ClaimedJob } from "./claim/index.ts";

/** A job's next time; ignored if another process has claimed the job since. */
export interface RescheduledJob {
  readonly id: string;
  /** The job's `claims` when this process claimed it. */
  readonly claimed: number;
  readonly run_at: string;
  readonly attempts: number;
}

/** The end of a run: the row is rescheduled, or deleted. */
export type Settlement = RescheduledJob | { readonly id: string; readonly run_at?: undefined };

/**
 * Deletes and reschedules any number of jobs, in one statement each. A finished job is deleted even if
 * another process holds it now.
 */
export async function settleJobs(tx: DatabaseTransaction, settlements: readonly Settlement[]): Promise<void> {
  const done = settlements.filter(({ run_at }) => run_at === undefined).map(({ id }) => id);
  const rescheduled = settlements.filter((settlement) => settlement.run_at !== undefined);
  await together(
    done.length > 0 && deleteJobs(tx, done),
    rescheduled.length > 0 && rescheduleJobs(tx, rescheduled),
  );
}

export async function deleteJobs(tx: DatabaseTransaction, ids: readonly string[]): Promise<void> {
  await sql`delete from jobs where id = any(${ids}::text[])`.execute(tx);
}

async function rescheduleJobs(
  tx: DatabaseTransaction,
  rescheduled: readonly RescheduledJob[],
): Promise<void> {
  // Later jobs of the same key can't start before this job. They are rescheduled with it, so that not every
  // claim examines them. "is true" prevents the planner from using other indexes than the key's, which look
  // equally good while the table is empty.
  await sql`
    with moved as (
      ${updateRunAt(rescheduled, sql`claimed_by = null,`)} returning jobs.key, jobs.id, jobs.run_at
    )
    update jobs set run_at = moved.run_at from moved
    where jobs.key = moved.key and (jobs.id > moved.id and jobs.run_at < moved.run_at) is true
  `.execute(tx);
}

export async function renewLeases(
  tx: DatabaseTransaction,
  renewals: readonly RescheduledJob[],
): Promise<void> {
  if (renewals.length > 0) {
    await updateRunAt(renewals, sql``).execute(tx);
  }
}

const changeColumns = {
  ...columnsOf("jobs", "id", "run_at", "attempts"),
  claimed: columnOf("jobs", "claims"),
};

const updateRunAt = (changes: readonly RescheduledJob[], otherColumns: RawBuilder<unknown>) => sql`
  update jobs set ${otherColumns} run_at = change.run_at, attempts = change.attempts
  from ${recordset("change", changeColumns, changes)}
  where ${matchesKey("jobs.id", "change.id", idsOf(changes))} and jobs.claims = change.claimed`;

const idsOf = (changes: readonly RescheduledJob[]) => changes.map(({ id }) => id);

interface Resumption {
  /** The stored names of the lanes. */
  readonly lanes: readonly string[];
  readonly waitingUntil: Date;
  readonly now: Date;
}

/** Makes waiting jobs due, but no running job, whose `run_at` is the end of its lease. */
export async function resumeLane(
  tx: DatabaseTransaction,
  { lanes, waitingUntil, now }: Resumption,
): Promise<void> {
  await sql`
    update jobs set run_at = ${now.toISOString()}
    where lane = any(${lanes}::text[]) and run_at = ${waitingUntil.toISOString()}
      and (claimed_by is null or claimed_number <> claims)
  `.execute(tx);
}

/**
 * The condition for old rows of the dead-letter queue. A higher layer deletes them, because this layer has no
 * jobs of its own.
 */
export const deadJobAge = { table: "dead_jobs", column: "died_at" } as const;

/** Moves a job to the dead-letter queue. Does nothing if another process has claimed the job since. */
export async function moveToDeadLetter(
  tx: DatabaseTransaction,
  job: ClaimedJob,
  { error, now }: { readonly error: string; readonly now: Date },
): Promise<void> {
  await sql`
    with dead as (delete from jobs where id = ${job.id} and claims = ${job.claims} returning *)
    insert into dead_jobs (id, name, lane, key, organization_id, subject, payload, attempts, error, created_at, died_at)
    select id, name, lane, key, organization_id, subject, payload, attempts, ${error}, created_at, ${now.toISOString()}::timestamptz
    from dead
  `.execute(tx);
}
