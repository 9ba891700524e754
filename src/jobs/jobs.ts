/**
 * Durable background jobs: enqueued in a transaction, run after its commit, at least once even after a crash.
 *
 * A job is a row, inserted in the caller's transaction (enqueue). A worker claims it by moving its time
 * forward by a lease (claim), runs it (attempt), and in its next poll deletes or reschedules it (settle). The
 * rows of a worker that dies become due again when its heartbeat stops (processes), or at the latest when
 * their leases end, so handlers must be idempotent. No lane delays another lane (lanes). Jobs with the same
 * key run one after the other.
 *
 * Each of the two priorities has its own worker with its own slots, so bulk jobs delay no normal job
 * (priority). A lane may have a rate, which applies to both priorities and all processes together
 * (claim/pace).
 *
 * Call order: worker → poller → claim, attempt, settle.
 */
import { setTimeout } from "node:timers/promises";
import type { Database } from "../database/database.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/telemetry/log.ts";
import { findDue, findUnknownNames, nextDueAt, setPace } from "./claim/index.ts";
import { insertJobs, withoutDuplicates } from "./enqueue.ts";
import type { Enqueuer, JobDefinition, Jobs, Priority } from "./job.ts";
import { storedLanes } from "./priority.ts";
import type { Processes } from "./processes/index.ts";
import { insertSchedules, nextRun } from "./schedule.ts";
import { deleteJobs, resumeLane } from "./settle.ts";
import { Worker, within } from "./worker/index.ts";

export interface JobsOptions {
  readonly database: Database;
  readonly now: Clock;
  readonly definitions: readonly JobDefinition[];
  readonly log: Log;
  /**
   * Starts and stops with the jobs. Without it, the jobs of a process that dies wait until their leases end.
   */
  readonly processes?: Processes;
  /**
   * The most jobs of one lane and priority that run at once in this process. In all lanes together, four
   * times as many of each priority. Default 16.
   */
  readonly concurrency?: number;
  /** The longest wait between polls, and so the delay of jobs that another process added. Default 1 s. */
  readonly pollMs?: number;
  /** Wraps the statement that adds jobs with telemetry. */
  instrument?(insert: Enqueuer): Enqueuer;
}

export interface RunningJobs extends Jobs, AsyncDisposable {
  /** Starts running jobs. They stop when the database is damaged. */
  start(): void;
  /**
   * For tests, instead of `start`: writes a heartbeat and runs all jobs that are due by the clock. Returns
   * the number of attempts.
   */
  runDue(): Promise<number>;
  /** Starts no more jobs and waits for the running jobs. Aborts them after `graceMs`, default 5 s. */
  stop(graceMs?: number): Promise<void>;
}

/** Shorter than the 10 s that container hosts allow. */
const defaultGraceMs = 5_000;
/** How long the last statement of the process may take if the database does not respond. */
const leaveMs = 1_000;

export function createJobs(options: JobsOptions): RunningJobs {
  const { database, now, definitions, log, concurrency = 16, pollMs = 1_000 } = options;
  const { instrument = (insert) => insert, processes } = options;
  const known = byName(definitions, now());
  const prepare = once(() => prepareTable(options, known));
  const delay = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal });
  const shared = { database, now, delay, definitions: known, processes, log, concurrency, pollMs, prepare };
  const workers: Readonly<Record<Priority, Worker>> = {
    normal: new Worker({ ...shared, priority: "normal" }),
    bulk: new Worker({ ...shared, priority: "bulk" }),
  };
  const wakeBoth = () => {
    workers.normal.wake();
    workers.bulk.wake();
  };
  processes?.onRelease(wakeBoth);

  const insert = instrument(async (tx, jobs) => {
    const unknown = jobs.find(({ name }) => !known.has(name));
    if (unknown) {
      throw new Error(`No definition has the name "${unknown.name}".`);
    }
    const priorities = new Set(jobs.map(({ priority = "normal" }) => priority));
    tx.afterCommit(() => {
      for (const priority of priorities) {
        workers[priority].wake();
      }
    });
    await insertJobs(tx, jobs, now());
  });

  const enqueue: Enqueuer = async (tx, jobs) => {
    const added = await withoutDuplicates(tx, jobs, now());
    if (added.length > 0) {
      await insert(tx, added);
    }
  };

  const stop = async (graceMs = defaultGraceMs) => {
    await Promise.all([workers.normal.stop(graceMs), workers.bulk.stop(graceMs)]);
    if (processes) {
      await within(processes.stop(), leaveMs);
    }
  };

  return {
    enqueue,
    remove: deleteJobs,
    async pace(tx, lane, ratePerSecond) {
      await setPace(tx, lane, ratePerSecond);
      tx.afterCommit(wakeBoth);
    },
    async resume(tx, lane, waitingUntil) {
      await resumeLane(tx, { lanes: storedLanes(lane), waitingUntil, now: now() });
      tx.afterCommit(wakeBoth);
    },
    start() {
      const { damaged } = database;
      if (damaged.aborted) {
        return;
      }
      workers.normal.start();
      workers.bulk.start();
      processes?.start();
      const stopAtOnce = () => {
        stop().catch((error: unknown) => log.warn({ error: String(error) }, "Jobs did not stop cleanly"));
      };
      damaged.addEventListener("abort", stopAtOnce, { once: true });
    },
    async runDue() {
      await processes?.beat();
      await prepare();
      let attempts = 0;
      for (;;) {
        // One statement instead of the ten statements of two polls, because often nothing is due.
        const due = await findDue(database.queries, now());
        const normal = due.normal ? await workers.normal.runDue() : 0;
        const bulk = due.bulk ? await workers.bulk.runDue() : 0;
        attempts += normal + bulk;
        if (normal + bulk === 0) {
          return attempts;
        }
      }
    },
    async whenIdle() {
      await runAllDue(workers, (worker) => worker.whenIdle());
      const options = { now: now(), isScheduled: false };
      const normal = await nextDueAt(database.queries, "normal", options);
      const bulk = await nextDueAt(database.queries, "bulk", options);
      return normal && bulk && bulk < normal ? bulk : (normal ?? bulk);
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

/** Registers the process, adds the scheduled rows, and warns about jobs that only a newer version can run. */
async function prepareTable(
  { database, processes, log, now }: JobsOptions,
  known: ReadonlyMap<string, JobDefinition>,
): Promise<void> {
  await processes?.register();
  await insertSchedules(database.queries, [...known.values()], now());
  const names = await findUnknownNames(database.queries, [...known.keys()]);
  if (names.length > 0) {
    log.warn({ names }, "The queue holds jobs that this version does not know; they are not run");
  }
}

/** Calls `work` once, and again only if it failed. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

/**
 * Runs the due jobs of both priorities with `run`, including jobs that they add. Returns the number of
 * attempts, like `run`.
 */
async function runAllDue(
  { normal, bulk }: Readonly<Record<Priority, Worker>>,
  run: (worker: Worker) => Promise<number>,
): Promise<number> {
  let attempts = 0;
  for (;;) {
    attempts += await run(normal);
    const bulkAttempts = await run(bulk);
    if (bulkAttempts === 0) {
      return attempts;
    }
    attempts += bulkAttempts;
  }
}

/** Throws for a duplicate name or an invalid schedule, which are programming errors. */
function byName(definitions: readonly JobDefinition[], now: Date): ReadonlyMap<string, JobDefinition> {
  const known = new Map<string, JobDefinition>();
  for (const definition of definitions) {
    if (known.has(definition.name)) {
      throw new Error(`Two definitions have the name "${definition.name}".`);
    }
    if (definition.schedule !== undefined) {
      nextRun(definition.schedule, now);
    }
    known.set(definition.name, definition);
  }
  return known;
}
