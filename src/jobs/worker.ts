/**
 * The loop around the rounds: it sleeps until there is work, outlasts the database's absence, and stops in
 * good order.
 *
 * It is woken by a commit that added jobs in this process and by the end of a job. What other processes add
 * is seen at the next poll.
 */
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { createBell } from "./bell.ts";
import { Rounds, type RoundsOptions } from "./rounds.ts";

/** What is added or ends within this time shares a round; more would be felt in the wait for a job. */
const gatherMs = 2;
/** The longest wait between tries while the database is away. */
const longestOutageWaitMs = 5_000;
/** How long jobs that were aborted may take to say so. */
const abortedMs = 250;

export class Worker {
  readonly #log: RoundsOptions["log"];
  readonly #bell = createBell();
  readonly #abort = new AbortController();
  readonly #rounds: Rounds;
  #looping: Promise<void> | undefined;
  #isStopping = false;
  #isOver = false;
  #failedRounds = 0;

  constructor(options: Omit<RoundsOptions, "signal" | "onEnd">) {
    const { signal } = this.#abort;
    // Every job in flight may listen to it.
    setMaxListeners(0, signal);
    this.#log = options.log;
    this.#rounds = new Rounds({ ...options, signal, onEnd: this.#bell.ring });
  }

  /** Something may be ready. */
  wake(): void {
    this.#bell.ring();
  }

  start(): void {
    this.#looping ??= this.#loop();
  }

  /** Rounds until nothing is due and nothing runs; says how many attempts were made. */
  async runDue(): Promise<number> {
    if (this.#looping) {
      throw new Error("The worker has been started: it runs what is due by itself.");
    }
    let attempts = 0;
    for (;;) {
      this.#bell.hush();
      const { taken, isDry, pauseMs } = await this.#rounds.next({ takes: true });
      attempts += taken;
      if (isDry && taken === 0 && this.#rounds.isIdle) {
        return attempts;
      }
      await this.#bell.wait(pauseMs);
    }
  }

  /** Begins nothing more and lets what runs end; after `graceMs` aborts it, and leaves the rest to its lease. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.wake();
    if (!this.#looping) {
      return;
    }
    await within(this.#looping, graceMs);
    this.#abort.abort();
    await within(this.#looping, abortedMs);
    this.#isOver = true;
    this.wake();
    await within(this.#looping, abortedMs);
  }

  async #loop(): Promise<void> {
    while (!this.#isOver && !(this.#isStopping && this.#rounds.isIdle)) {
      const pauseMs = await this.#turn();
      if (pauseMs > 0 && (await this.#bell.wait(pauseMs))) {
        await delay(gatherMs);
      }
    }
  }

  async #turn(): Promise<number> {
    this.#bell.hush();
    try {
      const { pauseMs } = await this.#rounds.next({ takes: !this.#isStopping });
      this.#failedRounds = 0;
      return pauseMs;
    } catch (error) {
      if (this.#failedRounds === 0) {
        this.#log.error({ err: error }, "The worker can't reach its jobs, and keeps trying");
      }
      this.#failedRounds += 1;
      return Math.min(50 * 2 ** this.#failedRounds, longestOutageWaitMs);
    }
  }
}

/** Waits for it, but not longer than this. */
async function within(work: Promise<void>, ms: number): Promise<void> {
  const timer = new AbortController();
  await Promise.race([work, delay(ms, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
}
