/** The types of jobs: durable work that is enqueued in a transaction and done after its commit. */
import type { Transaction } from "../database/database.ts";

/** A job to enqueue. */
export interface NewJob {
  /** The name of its definition, `noun.verb`. */
  readonly name: string;
  readonly payload: unknown;
  /** The organization it works for; null for the service itself. */
  readonly organization_id: string | null;
  /** Slots are shared fairly between lanes: the backlog of one never delays another. Default: the job's name. */
  readonly lane?: string;
  /** Jobs with the same key run one at a time, in the order in which they were added. */
  readonly key?: string;
  /** The earliest time to run; default now. */
  readonly runAt?: Date;
  /** Skipped while a job with the same key and payload waits to start; that one starts after this commit. */
  readonly isDeduplicated?: boolean;
  /** The W3C trace context that it continues. */
  readonly traceparent?: string | undefined;
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
  readonly traceparent: string | null;
  /** Aborted when the grace period of a shutdown is over. */
  readonly signal: AbortSignal;
  /** Reports that the lane's destination is failing: the lane starts fewer jobs until one ends without this call. */
  backOff(): void;
}

/** The result of a run: done (undefined), or to be run again at a time, which does not count as an attempt. */
export type Outcome = undefined | { readonly runAgainAt: Date };

/** How jobs of one name are run. A run may be repeated after a crash, so it must be idempotent. */
export interface JobDefinition<Payload = unknown> {
  readonly name: string;
  /** Attempts in all, including those that a crash interrupted; default 10. */
  readonly maxAttempts?: number;
  /** How long after a crash another process takes the job over; renewed during the run. Default 60 s. */
  readonly leaseMs?: number;
  /** A cron pattern of five fields (UTC): the job is added automatically, without a payload, and repeats. */
  readonly schedule?: string;
  run(payload: Payload, attempt: Attempt): Promise<Outcome>;
  /**
   * Called outside any transaction after the last attempt failed, before the job moves to the dead-letter
   * queue. It is called again if it throws or the process dies in between, so it must be idempotent too.
   */
  exhausted?(payload: Payload, error: unknown): Promise<void>;
}

export interface Jobs {
  /** Adds jobs in the caller's transaction; the worker is woken when it commits. */
  enqueue(tx: Transaction, ...jobs: readonly NewJob[]): Promise<void>;
}
