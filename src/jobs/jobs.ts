/**
 * Durable background work: what was promised in a transaction is done after it, whatever dies in between.
 *
 * A job is a row, added in the caller's transaction. A worker takes it by moving its time forward by a
 * lease (queue), runs it (attempt), and in its next round deletes it or moves it on (rounds). A worker that
 * dies leaves its rows to come due again: every job is run at least once, so handlers must be safe to
 * repeat. No lane waits behind another (lanes); the jobs of one key run one after the other.
 */
import { afterCommit, type Database } from "../database/database.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { JobDefinition, Jobs } from "./job.ts";
import { addJobs, withoutWaiting } from "./queue.ts";
import { nextTime } from "./schedule.ts";
import { Worker } from "./worker.ts";

export interface JobsOptions {
  readonly database: Database;
  readonly now: Clock;
  readonly definitions: readonly JobDefinition[];
  readonly log: Log;
  /** Jobs of one lane at once in this process, at most; of all lanes together, four times as many. */
  readonly concurrency?: number;
  /** How long work that another process added may go unseen. */
  readonly pollMs?: number;
}

export interface RunningJobs extends Jobs, AsyncDisposable {
  /** Begins to take jobs. */
  start(): void;
  /** For tests, instead of `start`: runs all that is due by the clock, and says how many attempts were made. */
  runDue(): Promise<number>;
  /** Takes no more and lets what runs end; aborts it after this time, and leaves the rest to its lease. */
  stop(graceMs?: number): Promise<void>;
}

/** Time for running jobs to end when nobody says otherwise; less than what container hosts allow (10 s). */
const defaultGraceMs = 5_000;

export function createJobs(options: JobsOptions): RunningJobs {
  const { database, now, definitions, log, concurrency = 16, pollMs = 1_000 } = options;
  const known = byName(definitions, now());
  const worker = new Worker({ database, now, definitions: known, log, concurrency, pollMs });

  return {
    async enqueue(tx, ...jobs) {
      const stranger = jobs.find(({ name }) => !known.has(name));
      if (stranger) {
        throw new Error(`Nothing runs jobs named "${stranger.name}".`);
      }
      const fresh = await withoutWaiting(tx, jobs, now());
      if (fresh.length === 0) {
        return;
      }
      await addJobs(tx, fresh, now());
      afterCommit(tx, () => worker.wake());
    },
    start: () => worker.start(),
    runDue: () => worker.runDue(),
    stop: (graceMs = defaultGraceMs) => worker.stop(graceMs),
    [Symbol.asyncDispose]: () => worker.stop(defaultGraceMs),
  };
}

/** A name that is taken twice, or a schedule that never comes, is a mistake in the program. */
function byName(definitions: readonly JobDefinition[], now: Date): ReadonlyMap<string, JobDefinition> {
  const known = new Map<string, JobDefinition>();
  for (const definition of definitions) {
    if (known.has(definition.name)) {
      throw new Error(`Two definitions are named "${definition.name}".`);
    }
    if (definition.schedule !== undefined) {
      nextTime(definition.schedule, now);
    }
    known.set(definition.name, definition);
  }
  return known;
}
