/** What a job is: durable work that was promised in a transaction and is done after it. */
import type { Transaction } from "../database/database.ts";

/** A job to be done. */
export interface NewJob {
  /** Names the definition that runs it, `noun.verb`. */
  readonly name: string;
  readonly payload: unknown;
  /** Whose it is; null for the house's own. */
  readonly organization_id: string | null;
  /** Jobs of one lane share its turn: no lane waits behind another's backlog. Default: the job's name. */
  readonly lane?: string;
  /** Jobs with the same key run one at a time, in the order of their ids: the order in which they were added. */
  readonly key?: string;
  /** Not before this time; default now. */
  readonly runAt?: Date;
  /** Left out while one with the same key and payload waits to begin: it begins after this commit, and sees what is done here. */
  readonly isShared?: boolean;
  /** The trace that it goes on with, as W3C writes it. */
  readonly traceparent?: string | undefined;
}

/** One attempt at a job. */
export interface Attempt {
  readonly id: string;
  readonly organization_id: string | null;
  /** From 1. */
  readonly number: number;
  /** Whether a failure now is the last. */
  readonly isLast: boolean;
  /** When it was to begin. */
  readonly dueAt: string;
  readonly traceparent: string | null;
  /** Aborted when the house stops and can't wait longer. */
  readonly signal: AbortSignal;
  /** Says that what this lane leads to is in trouble: fewer of its jobs are begun until one ends without. */
  strain(): void;
}

/** What a run says: done (nothing), or again later, which is not a failure and is not counted as an attempt. */
export type Outcome = undefined | { readonly againAt: Date };

/** How a kind of job is done. A run may be repeated after a crash: it must be safe to repeat. */
export interface JobDefinition<Payload = unknown> {
  readonly name: string;
  /** Attempts in all, those cut short by a crash included; default 10. */
  readonly maxAttempts?: number;
  /** How long after a crash another process takes the job over; renewed while the run lasts. Default 60 s. */
  readonly leaseMs?: number;
  /** A cron pattern of five fields (UTC): the job adds itself, without a payload, and comes again. */
  readonly schedule?: string;
  run(payload: Payload, attempt: Attempt): Promise<Outcome>;
  /**
   * Called outside any transaction after the last attempt failed, before the job is laid with the dead;
   * again if it throws or the process dies in between, so it too must be safe to repeat.
   */
  exhausted?(payload: Payload, error: unknown): Promise<void>;
}

/** What those who add jobs need of the engine. */
export interface Jobs {
  /** Adds jobs in the caller's transaction; the worker is woken when it commits. */
  enqueue(tx: Transaction, ...jobs: readonly NewJob[]): Promise<void>;
}
