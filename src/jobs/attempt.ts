/**
 * One attempt at a job: runs it, and says what becomes of its row.
 *
 * It never throws: whatever the handler does, the row is ended, moved, or left to its lease.
 */
import type { Database } from "../database/database.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { backoff } from "./backoff.ts";
import type { JobDefinition } from "./job.ts";
import { buryJob, type ClaimedJob, type Settlement } from "./queue.ts";
import { nextTime } from "./schedule.ts";

const defaultMaxAttempts = 10;
/** Enough to understand a failure by; a vendor's whole answer does not belong in the table. */
const longestError = 1_000;

/** What an attempt needs of the house. */
export interface Surroundings {
  readonly database: Database;
  readonly now: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly strain: () => void;
}

/** Nothing when the row has gone already. */
export async function attemptJob(
  around: Surroundings,
  definition: JobDefinition,
  job: ClaimedJob,
): Promise<Settlement | undefined> {
  const { id, organization_id, attempts, due_at: dueAt, traceparent } = job;
  const maxAttempts = definition.maxAttempts ?? defaultMaxAttempts;
  if (attempts > maxAttempts) {
    return giveUp(around, definition, job, new Error("The last attempt was cut short: its process died."));
  }
  const attempt = {
    id,
    organization_id,
    number: attempts,
    isLast: attempts === maxAttempts,
    dueAt,
    traceparent,
    signal: around.signal,
    strain: around.strain,
  };
  try {
    const outcome = await definition.run(job.payload, attempt);
    return outcome ? move(job, outcome.againAt, attempts - 1) : finish(around, definition, job);
  } catch (error) {
    if (around.signal.aborted) {
      return move(job, around.now(), attempts - 1);
    }
    return attempt.isLast ? giveUp(around, definition, job, error) : tryLater(around, definition, job, error);
  }
}

/** Done: the row goes, or waits for its next time. */
function finish({ now }: Surroundings, { schedule }: JobDefinition, job: ClaimedJob): Settlement {
  if (schedule === undefined) {
    return { id: job.id };
  }
  return move(job, nextTime(schedule, now()), 0);
}

/** After a failure that is not the last. A retry of a scheduled job never passes over its next time. */
function tryLater(
  { now, log }: Surroundings,
  { schedule }: JobDefinition,
  job: ClaimedJob,
  error: unknown,
): Settlement {
  const time = now();
  const retry = new Date(time.getTime() + backoff(job.attempts));
  const next = schedule === undefined ? undefined : nextTime(schedule, time);
  const againAt = next && next < retry ? next : retry;
  log.warn(
    { job: job.id, name: job.name, attempt: job.attempts, again_at: againAt, err: error },
    "A job failed",
  );
  return move(job, againAt, job.attempts);
}

/** After the last failure: among the dead, or, if it comes by the clock, at its next time. */
async function giveUp(
  around: Surroundings,
  definition: JobDefinition,
  job: ClaimedJob,
  error: unknown,
): Promise<Settlement | undefined> {
  const { database, now, log } = around;
  log.error(
    { job: job.id, name: job.name, attempt: job.attempts, err: error },
    "A job failed for the last time",
  );
  try {
    await definition.exhausted?.(job.payload, error);
    if (definition.schedule !== undefined) {
      return finish(around, definition, job);
    }
    await database.transaction((tx) => buryJob(tx, job, describe(error), now()));
    return undefined;
  } catch (failure) {
    log.error({ job: job.id, name: job.name, err: failure }, "A failed job could not be laid with the dead");
    return move(job, new Date(now().getTime() + backoff(job.attempts)), job.attempts);
  }
}

/** A time that PostgreSQL can't read would stop every settlement that travels with it, so it fails this job alone. */
function move({ id, claims: claimed }: ClaimedJob, at: Date, attempts: number): Settlement {
  const run_at = at.toISOString();
  if (!/^\d{4}-/.test(run_at)) {
    throw new RangeError(`A job cannot run at ${run_at}.`);
  }
  return { id, claimed, run_at, attempts };
}

/** The error's text, never its stack; a zero byte has no place in PostgreSQL. */
function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll("\0", "").slice(0, longestError);
}
