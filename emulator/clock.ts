/**
 * The emulator's clock and its timers. Time can be moved forward: timers that become due meanwhile run in
 * order, each at its own time. A clock that does not run by itself moves only then, which is what tests use.
 */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs a function later. @returns a function that cancels it */
  after(delayMs: number, run: () => void): () => void;
  advance(ms: number): void;
  /** Cancels all timers. */
  stop(): void;
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
  handle?: NodeJS.Timeout;
}

/** The longest delay that setTimeout takes: a later timer is set again. */
const maxDelayMs = 2 ** 31 - 1;

/** `startAt` makes a clock that stands still until it is moved. */
export function createClock(startAt?: number): Clock {
  return new TimerClock(startAt);
}

class TimerClock implements Clock {
  readonly #timers = new Set<Timer>();
  readonly #startAt: number | undefined;
  #offset = 0;

  constructor(startAt: number | undefined) {
    this.#startAt = startAt;
  }

  now(): number {
    return (this.#startAt ?? Date.now()) + this.#offset;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer: Timer = { at: this.now() + delayMs, run };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      clearTimeout(timer.handle);
      this.#timers.delete(timer);
    };
  }

  advance(ms: number): void {
    const target = this.now() + ms;
    for (let due = earliest(this.#timers); due && due.at <= target; due = earliest(this.#timers)) {
      this.#offset += Math.max(0, due.at - this.now());
      this.#fire(due);
    }
    this.#offset += Math.max(0, target - this.now());
    for (const timer of this.#timers) {
      this.#arm(timer);
    }
  }

  stop(): void {
    for (const { handle } of this.#timers) {
      clearTimeout(handle);
    }
    this.#timers.clear();
  }

  /** A clock that stands still needs no timer of Node. */
  #arm(timer: Timer): void {
    if (this.#startAt !== undefined) {
      return;
    }
    clearTimeout(timer.handle);
    const delay = Math.min(maxDelayMs, Math.max(0, timer.at - this.now()));
    timer.handle = setTimeout(() => (timer.at > this.now() ? this.#arm(timer) : this.#fire(timer)), delay);
  }

  #fire(timer: Timer): void {
    clearTimeout(timer.handle);
    this.#timers.delete(timer);
    timer.run();
  }
}

function earliest(timers: ReadonlySet<Timer>): Timer | undefined {
  let first: Timer | undefined;
  for (const timer of timers) {
    if (first === undefined || timer.at < first.at) {
      first = timer;
    }
  }
  return first;
}

/** As webhooks and answers write it. */
export function toUnixSeconds(ms: number): string {
  return String(Math.floor(ms / 1000));
}
