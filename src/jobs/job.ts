/** The types of jobs: durable work that is enqueued in a transaction and done after its commit. */
import type { RawBuilder } from "kysely";
import type { DatabaseTransaction } from "../database/database.ts";

/** A kind of job: its name, and the form of its payload. */
export interface JobType<Payload> {
  /** `noun.verb`. Must not change: waiting jobs are stored under it, and a later version must find them. */
  readonly name: string;
  /** Checks a stored payload, as a Zod schema does. */
  readonly payload: {
    safeParse(stored: unknown): { success: true; data: Payload } | { success: false; error: unknown };
  };
}

/**
 * A bulk job never delays a normal one: each priority has its own slots, and normal jobs go first within the rate of
 * their lane.
 */
export type Priority = "normal" | "bulk";

/** The organization that a job works for is named in its payload; without one, the job is the service's own. */
export interface JobPayload {
  readonly organization_id?: string | undefined;
}

interface CommonOptions {
  /**
   * Slots are shared fairly between lanes: the backlog of one never delays another. The jobs of a lane are all of one
   * organization. Default: the job's name and its organization.
   */
  readonly lane?: string;
  /** The earliest time to run; default now. */
  readonly runAt?: Date;
  /** The id of the record whose personal data the job holds, so that its erasure finds the job. */
  readonly subject?: string;
}

interface NormalOptions {
  readonly priority?: "normal";
  /** Jobs with the same key run one at a time, in the order in which they were added. */
  readonly key?: string;
  /** Skipped while a job with the same key and payload waits to start; that one starts after this commit. */
  readonly isDeduplicated?: boolean;
}

/** Without a key, because a normal job would wait for the bulk ones of its key. So bulk jobs have no order. */
interface BulkOptions {
  readonly priority: "bulk";
  readonly key?: undefined;
  readonly isDeduplicated?: undefined;
}

export type JobOptions = CommonOptions & (NormalOptions | BulkOptions);

/** A job to enqueue, from `newJob`. */
export type NewJob = JobOptions & {
  readonly name: string;
  readonly payload: unknown;
  /** The organization it works for; null for the service itself. */
  readonly organization_id: string | null;
  /** The W3C trace context that it continues. */
  readonly traceparent?: string | undefined;
};

/** A job whose payload fits its type. */
export function newJob<Payload extends JobPayload>(
  { name }: JobType<Payload>,
  payload: NoInfer<Payload>,
  options: JobOptions = {},
): NewJob {
  return { ...options, name, payload, organization_id: payload.organization_id ?? null };
}

/** One attempt at a job. */
export interface Attempt {
  readonly id: string;
  readonly organization_id: string | null;
  /** From 1. */
  readonly number: number;
  /** Whether a failure of this attempt is final. */
  readonly isLast: boolean;
  /** When the job was due. */
  readonly dueAt: string;
  /** The attempt before did not end: its process died, or was blocked and may still be running it. */
  readonly isTakeover: boolean;
  readonly traceparent: string | null;
  /** Aborted when the grace period of a shutdown is over. */
  readonly signal: AbortSignal;
  /**
   * Counts the job's start against the rate of its lane from now on, if it has counted for `maxAgeMs` or longer. To be
   * called before the work that the rate limits, and again if that is 50 ms later: a start counts 100 ms longer than a second.
   * Waits, up to 10 seconds, while the rate is used up.
   */
  readonly startNow: (maxAgeMs: number) => Promise<void>;
  /** Throws while the process's time can't be compared with that of the others, for example after its machine was suspended. */
  readonly requireClock: () => void;
  /** Reports that the lane's destination is failing: the lane starts fewer jobs until one ends without this call. */
  backOff(): void;
}

/** The result of a run: done (undefined), or to be run again at a time, which does not count as an attempt. */
export type Outcome = undefined | { readonly runAgainAt: Date };

/** How jobs of one name are run. A run may be repeated after a crash, so it must be idempotent. */
export interface JobDefinition<Payload = unknown> extends JobType<Payload> {
  /** Attempts in all, including those that a crash interrupted; default 10. */
  readonly maxAttempts?: number;
  /**
   * How long after its claim the job becomes due again by itself; renewed during the run. Default 60 s. The table of
   * processes makes it due earlier if its process died.
   */
  readonly leaseMs?: number;
  /**
   * The part of a slot that a run takes: 1, or less for jobs that do most of their work together, so that more of them
   * run at once. A power of two. Default 1.
   */
  readonly slots?: number;
  /**
   * A run that takes longer waits for a third party: until it ends, another job of its lane may have its slots. Default:
   * it keeps them.
   */
  readonly yieldsAfterMs?: number;
  /** A cron pattern of five fields (UTC): the job is added automatically, without a payload, and repeats. */
  readonly schedule?: string;
  /** Also runs while its organization is suspended: it does the work of a third party. Default false. */
  readonly runsWhileSuspended?: boolean;
  run(payload: Payload, attempt: Attempt): Promise<Outcome>;
  /**
   * Called outside any transaction after the last attempt failed, before the job moves to the dead-letter
   * queue. It is called again if it throws or the process dies in between, so it must be idempotent too.
   */
  exhausted?(payload: Payload, error: unknown): Promise<void>;
}

export interface Jobs {
  /**
   * Waits until no job runs or can be started, running those that are due, and returns when the next one is due, apart
   * from those that repeat by themselves.
   */
  whenIdle(): Promise<Date | undefined>;
  /** Adds jobs in the caller's transaction, in order, in one statement; the worker is woken when it commits. */
  enqueue: Enqueuer;
  /**
   * The statement that adds jobs, to be made part of another statement of `tx`; the worker is woken when it commits.
   * None of the jobs may be deduplicated.
   */
  insertion(tx: DatabaseTransaction, jobs: readonly NewJob[]): Promise<RawBuilder<unknown>>;
  /**
   * Sets how many jobs of a lane may start in any second, in all processes of the database together; null: any number.
   * Attempts that repeat a job count too.
   */
  pace(tx: DatabaseTransaction, lane: string, ratePerSecond: number | null): Promise<void>;
  /**
   * Makes the jobs of a lane due that wait until exactly this time; those that wait until another one do so for another
   * reason. A job that runs and will wait until then is not found: resume it again later.
   */
  resume(tx: DatabaseTransaction, lane: string, waitingUntil: Date): Promise<void>;
}

export type Enqueuer = (tx: DatabaseTransaction, jobs: readonly NewJob[]) => Promise<void>;
