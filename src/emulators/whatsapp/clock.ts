/**
 * The emulator's clock and its timers. Time can be moved forward: timers that become due meanwhile run in order,
 * each at its own time. A clock that does not run by itself moves only then, which is what tests use.
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
  const timers = new Set<Timer>();
  let offset = 0;
  const base = startAt === undefined ? Date.now : () => startAt;
  const now = () => base() + offset;

  const arm = (timer: Timer) => {
    if (startAt !== undefined) {
      return;
    }
    clearTimeout(timer.handle);
    const delay = Math.min(maxDelayMs, Math.max(0, timer.at - now()));
    timer.handle = setTimeout(() => (timer.at > now() ? arm(timer) : fire(timer)), delay);
  };
  const fire = (timer: Timer) => {
    clearTimeout(timer.handle);
    timers.delete(timer);
    timer.run();
  };

  return {
    now,
    after(delayMs, run) {
      const timer: Timer = { at: now() + delayMs, run };
      timers.add(timer);
      arm(timer);
      return () => {
        clearTimeout(timer.handle);
        timers.delete(timer);
      };
    },
    advance(ms) {
      const target = now() + ms;
      for (let due = earliest(timers); due && due.at <= target; due = earliest(timers)) {
        offset += Math.max(0, due.at - now());
        fire(due);
      }
      offset += Math.max(0, target - now());
      timers.forEach(arm);
    },
    stop() {
      for (const { handle } of timers) {
        clearTimeout(handle);
      }
      timers.clear();
    },
  };
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
