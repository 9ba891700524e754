/**
 * The polling loop of one priority: waits until there is work, survives outages of the database, and shuts
 * down gracefully.
 *
 * It is woken by a commit that added jobs in this process and by the end of a job. Jobs that other processes
 * add are found by the next poll.
 */
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { createSignal } from "../signal.ts";
import { Poller, type PollerOptions, type PollResult } from "./poller.ts";

/**
 * Jobs that are added or end within this time share a poll. A longer time would noticeably delay a job's
 * start.
 */
const coalesceMs = 2;
/**
 * The pause after a poll that left slots free, unless a caller waits for the end of the work: jobs that are
 * added in this time share the statements of the next poll and of their batches. While requests wait for a
 * connection, the pause is several times as long as the poll took, which leaves connections to the requests.
 */
const pause = { minMs: 10, maxMs: 200, pollTimes: 10 };
/** The longest wait between polls during an outage of the database. */
const maxOutageWaitMs = 5_000;
/** How long aborted jobs may take to end. */
const abortedMs = 250;

export class Worker {
  readonly #database: PollerOptions["database"];
  readonly #log: PollerOptions["log"];
  readonly #priority: PollerOptions["priority"];
  readonly #work = createSignal();
  readonly #abort = new AbortController();
  readonly #poller: Poller;
  #loop: Promise<void> | undefined;
  #isStopping = false;
  #isStopped = false;
  #failedPolls = 0;
  /** How many jobs were claimed since the start. */
  #claimed = 0;
  /** Functions that are called when nothing is due and nothing runs. */
  readonly #waiting: (() => void)[] = [];

  constructor(options: Omit<PollerOptions, "signal" | "onEnd">) {
    const { signal } = this.#abort;
    // Every running job may add a listener.
    setMaxListeners(0, signal);
    this.#database = options.database;
    this.#log = options.log;
    this.#priority = options.priority;
    this.#poller = new Poller({ ...options, signal, onEnd: this.#work.set });
  }

  /** Polls as soon as possible. */
  wake(): void {
    this.#work.set();
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Polls until nothing is due and nothing runs. Returns the number of attempts. */
  async runDue(): Promise<number> {
    if (this.#loop) {
      throw new Error("The worker is started and runs due jobs already.");
    }
    let attempts = 0;
    for (;;) {
      this.#work.clear();
      const { claimed, isDrained, waitMs } = await this.#poller.poll({ canClaim: true });
      attempts += claimed;
      if (isDrained && claimed === 0 && this.#poller.isIdle) {
        return attempts;
      }
      await this.#work.wait(waitMs);
    }
  }

  /** Like `runDue`, for a started worker: waits until its loop has run everything that is due. */
  async whenIdle(): Promise<number> {
    if (!this.#loop) {
      return this.runDue();
    }
    const before = this.#claimed;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.wake();
    });
    return this.#claimed - before;
  }

  /** Starts no more jobs and waits for the running jobs. Aborts them after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.wake();
    if (!this.#loop) {
      return;
    }
    await within(this.#loop, graceMs);
    this.#abort.abort();
    await within(this.#loop, abortedMs);
    this.#isStopped = true;
    this.wake();
    await within(this.#loop, abortedMs);
  }

  async #run(): Promise<void> {
    while (!this.#isStopped && !(this.#isStopping && this.#poller.isIdle)) {
      const startedAt = performance.now();
      // Only callers that waited before the poll: later callers may have added jobs that the poll did not
      // see.
      const waiting = this.#waiting.length;
      const { waitMs, hasFullLane, claimed, isDrained } = await this.#poll();
      this.#claimed += claimed;
      if (isDrained && claimed === 0 && this.#poller.isIdle) {
        this.#endWaiting(waiting);
      }
      if (waitMs > 0) {
        const endedAt = performance.now();
        await this.#work.wait(waitMs);
        const mustContinue = hasFullLane || this.#waiting.length > 0;
        const pausedMs = mustContinue ? 0 : this.#pauseMs(endedAt - startedAt);
        await delay(Math.max(coalesceMs, endedAt + pausedMs - performance.now()));
      }
    }
    this.#endWaiting(this.#waiting.length);
  }

  #endWaiting(count: number): void {
    for (const end of this.#waiting.splice(0, count)) {
      end();
    }
  }

  #pauseMs(pollMs: number): number {
    const isBusy = this.#database.pool().waiting > 0;
    return isBusy ? Math.min(Math.max(pause.minMs, pause.pollTimes * pollMs), pause.maxMs) : pause.minMs;
  }

  async #poll(): Promise<PollResult> {
    this.#work.clear();
    try {
      const result = await this.#poller.poll({ canClaim: !this.#isStopping });
      this.#failedPolls = 0;
      return result;
    } catch (error) {
      if (this.#failedPolls === 0) {
        const facts = { err: error, priority: this.#priority };
        this.#log.error(facts, "The worker can't read its jobs and will retry");
      }
      this.#failedPolls += 1;
      const waitMs = Math.min(50 * 2 ** this.#failedPolls, maxOutageWaitMs);
      return { waitMs, claimed: 0, isDrained: false, hasFullLane: false };
    }
  }
}

/** Waits for the promise, at most this long. */
export async function within(work: Promise<void>, ms: number): Promise<void> {
  const timer = new AbortController();
  await Promise.race([work, delay(ms, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
}
