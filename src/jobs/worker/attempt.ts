/**
 * One attempt at a job: runs it and returns what happens to its row.
 *
 * It never throws: whatever the handler does, the row is deleted, rescheduled, moved to the dead-letter queue
 * or left until its lease ends.
 */
import type { Database } from "../../database/database.ts";
import { runFor } from "../../database/sharing/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/telemetry/log.ts";
import { type ClaimedJob, moveStart } from "../claim/index.ts";
import type { JobDefinition } from "../job.ts";
import { nextRun } from "../schedule.ts";
import { moveToDeadLetter, type Settlement } from "../settle.ts";
import { backoffMs } from "./backoff.ts";

const defaultMaxAttempts = 10;
/**
 * After this many moves the job starts anyway. More moves mean that the machine is too busy to move the start
 * in time.
 */
const maxMoves = 3;
/** Enough to understand a failure. The whole response of a third party does not belong in the table. */
const maxErrorLength = 1_000;

export interface AttemptContext {
  readonly database: Database;
  readonly now: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Rejects if the signal is aborted. */
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly backOff: () => void;
  readonly requireClock: () => void;
}

/** Returns undefined if the row no longer exists. */
export async function attemptJob(
  context: AttemptContext,
  definition: JobDefinition,
  job: ClaimedJob,
): Promise<Settlement | undefined> {
  const { id, organization_id, attempts, due_at: dueAt, traceparent } = job;
  const maxAttempts = definition.maxAttempts ?? defaultMaxAttempts;
  if (attempts > maxAttempts) {
    return fail(context, definition, job, new Error("The last attempt was cut short: its process died."));
  }
  const attempt = {
    id,
    organization_id,
    number: attempts,
    isLast: attempts === maxAttempts,
    dueAt,
    isTakeover: job.is_takeover,
    traceparent,
    signal: context.signal,
    startNow: createStart(context, job),
    backOff: context.backOff,
    requireClock: context.requireClock,
  };
  try {
    const run = () => definition.run(readPayload(definition, job), attempt);
    const outcome = await (organization_id === null ? run() : runFor(organization_id, run));
    return outcome ? reschedule(job, outcome.runAgainAt, attempts - 1) : complete(context, definition, job);
  } catch (error) {
    if (context.signal.aborted) {
      return reschedule(job, context.now(), attempts - 1);
    }
    return attempt.isLast ? fail(context, definition, job, error) : retry(context, definition, job, error);
  }
}

function createStart(
  { database, now, log, signal, delay }: AttemptContext,
  { id, lane, started_at }: ClaimedJob,
) {
  let start = started_at;
  return async (maxAgeMs: number): Promise<void> => {
    try {
      for (let move = 0; move < maxMoves && start !== null; move += 1) {
        const to = now();
        if (to.getTime() - Date.parse(start) < maxAgeMs) {
          return;
        }
        start = await moveStart(database, { lane, from: start, to });
        const waitMs = start === null ? 0 : Date.parse(start) - now().getTime();
        if (waitMs > 0) {
          await delay(waitMs, signal);
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      // The rate may be exceeded by one start, which costs less than losing the job.
      log.warn({ job: id, err: error }, "The start of a job could not be counted");
    }
  };
}

/** Throws if another version enqueued the job with a payload of another form. */
function readPayload<Payload>({ name, payload }: JobDefinition<Payload>, job: ClaimedJob): Payload {
  const parsed = payload.safeParse(job.payload);
  if (!parsed.success) {
    throw new Error(`The payload does not have the form of a job "${name}".`, { cause: parsed.error });
  }
  return parsed.data;
}

/** A scheduled job waits for its next run; any other job is deleted. */
function complete({ now }: AttemptContext, { schedule }: JobDefinition, job: ClaimedJob): Settlement {
  if (schedule === undefined) {
    return { id: job.id };
  }
  return reschedule(job, nextRun(schedule, now()), 0);
}

/**
 * Reschedules a job after a failure that is not final. The retry of a scheduled job is never later than its
 * next run.
 */
function retry(
  { now, log }: AttemptContext,
  { schedule }: JobDefinition,
  job: ClaimedJob,
  error: unknown,
): Settlement {
  const time = now();
  const afterBackoff = new Date(time.getTime() + backoffMs(job.attempts));
  const scheduled = schedule === undefined ? undefined : nextRun(schedule, time);
  const retryAt = scheduled && scheduled < afterBackoff ? scheduled : afterBackoff;
  log.warn(
    { job: job.id, name: job.name, attempt: job.attempts, retry_at: retryAt, err: error },
    "A job failed and will be retried",
  );
  return reschedule(job, retryAt, job.attempts);
}

/** After the final failure: moves the job to the dead-letter queue, or a scheduled job to its next run. */
async function fail(
  context: AttemptContext,
  definition: JobDefinition,
  job: ClaimedJob,
  error: unknown,
): Promise<Settlement | undefined> {
  const { database, now, log } = context;
  log.error(
    { job: job.id, name: job.name, attempt: job.attempts, err: error },
    "A job failed for the last time",
  );
  try {
    const payload = definition.payload.safeParse(job.payload);
    if (payload.success) {
      await definition.exhausted?.(payload.data, error);
    }
    if (definition.schedule !== undefined) {
      return complete(context, definition, job);
    }
    await database.transaction((tx) => moveToDeadLetter(tx, job, { error: describe(error), now: now() }));
    return undefined;
  } catch (failure) {
    log.error(
      { job: job.id, name: job.name, err: failure },
      "A failed job could not be moved to the dead-letter queue and will be retried",
    );
    return reschedule(job, new Date(now().getTime() + backoffMs(job.attempts)), job.attempts);
  }
}

/**
 * A time that PostgreSQL can't parse would make all settlements of the same statement fail, so here it makes
 * this job fail.
 */
function reschedule({ id, claims: claimed }: ClaimedJob, at: Date, attempts: number): Settlement {
  const run_at = at.toISOString();
  if (!/^\d{4}-/.test(run_at)) {
    throw new RangeError(`A job cannot run at ${run_at}.`);
  }
  return { id, claimed, run_at, attempts };
}

/** The error's message without its stack; PostgreSQL can't store a zero byte. */
function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll("\0", "").slice(0, maxErrorLength);
}
