/** The types of jobs: durable work that is enqueued in a transaction and done after its commit. */
import type { DatabaseTransaction } from "../database/database.ts";

/** A kind of job: its name and the form of its payload. */
export interface JobType<Payload> {
  /**
   * `noun.verb`. Must not change: waiting jobs are stored with this name, and a later version must find them.
   */
  readonly name: string;
  /** Checks a stored payload, as a Zod schema does. */
  readonly payload: {
    safeParse(stored: unknown): { success: true; data: Payload } | { success: false; error: unknown };
  };
}

/**
 * A bulk job never delays a normal job: each priority has its own slots, and normal jobs have precedence
 * within the rate of their lane.
 */
export type Priority = "normal" | "bulk";

/**
 * The payload names the organization that a job works for. Without one, the job works for the service itself.
 */
export interface JobPayload {
  readonly organization_id?: string | undefined;
}

interface CommonOptions {
  /** Names the job, so that `remove` finds it. Default: a new id. */
  readonly id?: string;
  /**
   * Slots are shared fairly between lanes: the backlog of one lane never delays another lane. All jobs of a
   * lane are of one organization. Default: the job's name and its organization.
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
  /**
   * Whether to skip the job while a job with the same key and payload waits to start. The waiting job then
   * starts after this commit.
   */
  readonly isDeduplicated?: boolean;
}

/**
 * Bulk jobs have no key, because a normal job would wait for the bulk jobs of its key. So bulk jobs have no
 * order.
 */
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
  /** The organization that the job works for; null for the service itself. */
  readonly organization_id: string | null;
  /** The W3C trace context that the job continues. */
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
  /** The number of the attempt, from 1. */
  readonly number: number;
  /** Whether a failure of this attempt is final. */
  readonly isLast: boolean;
  /** When the job was due. */
  readonly dueAt: string;
  /**
   * Whether the previous attempt did not end: its process died, or was blocked and may still be running the
   * job.
   */
  readonly isTakeover: boolean;
  readonly traceparent: string | null;
  /** Aborted when the grace period of a shutdown is over. */
  readonly signal: AbortSignal;
  /**
   * Counts the job's start towards the rate of its lane from now on, if it has already counted for `maxAgeMs`
   * or longer. Call this function before the work that the rate limits, and again if the work begins 50 ms
   * later: a start counts 100 ms longer than a second. While the rate is used up, the function waits for up
   * to 10 seconds.
   */
  readonly startNow: (maxAgeMs: number) => Promise<void>;
  /**
   * Throws while the process's time can't be compared with the time of other processes, for example after its
   * machine was suspended.
   */
  readonly requireClock: () => void;
  /**
   * Reports that the lane's destination is failing. The lane then starts fewer jobs until a job ends without
   * this call.
   */
  backOff(): void;
}

/**
 * The result of a run: done (undefined), or the time to run again. Running again does not count as an
 * attempt.
 */
export type Outcome = undefined | { readonly runAgainAt: Date };

/** How jobs of one name are run. A run may be repeated after a crash, so it must be idempotent. */
export interface JobDefinition<Payload = unknown> extends JobType<Payload> {
  /** The most attempts, including attempts that a crash interrupted. Default 10. */
  readonly maxAttempts?: number;
  /**
   * How long after its claim the job becomes due again by itself; renewed during the run. Default 60 s. If
   * the process died, the table of processes makes the job due earlier.
   */
  readonly leaseMs?: number;
  /**
   * The part of a slot that a run takes: 1, or less for jobs that do most of their work together, so that
   * more of them run at once. Must be a power of two. Default 1.
   */
  readonly slots?: number;
  /**
   * After this time a run is waiting for a third party. Until it ends, another job of its lane may use its
   * slots. By default, the run keeps its slots.
   */
  readonly yieldsAfterMs?: number;
  /** A cron pattern of five fields (UTC). The job is added automatically, without a payload, and repeats. */
  readonly schedule?: string;
  /**
   * Whether the job also runs while its organization is suspended, because it does the work of a third party.
   * Default false.
   */
  readonly runsWhileSuspended?: boolean;
  run(payload: Payload, attempt: Attempt): Promise<Outcome>;
  /**
   * Called outside any transaction after the last attempt has failed, before the job moves to the dead-letter
   * queue. The function is called again if it throws or the process dies in between, so it must be idempotent
   * too.
   */
  exhausted?(payload: Payload, error: unknown): Promise<void>;
}

export interface Jobs {
  /**
   * Runs due jobs until no job runs or can be started, and returns when the next job is due, apart from jobs
   * that repeat by themselves.
   */
  whenIdle(): Promise<Date | undefined>;
  /** Adds jobs in the caller's transaction, in order, in one statement; the worker is woken by the commit. */
  enqueue: Enqueuer;
  /** Deletes jobs whose work `tx` does itself. A job that is already running runs to its end. */
  remove(tx: DatabaseTransaction, ids: readonly string[]): Promise<void>;
  /**
   * Sets how many jobs of a lane may start per second, in all processes of the database together; null: any
   * number. Repeated attempts count too.
   */
  pace(tx: DatabaseTransaction, lane: string, ratePerSecond: number | null): Promise<void>;
  /**
   * Makes jobs of a lane due that wait until exactly this time; jobs that wait until another time have
   * another reason. A job that is still running and will wait until this time is not found: resume the lane
   * again later.
   */
  resume(tx: DatabaseTransaction, lane: string, waitingUntil: Date): Promise<void>;
}

export type Enqueuer = (tx: DatabaseTransaction, jobs: readonly NewJob[]) => Promise<void>;
