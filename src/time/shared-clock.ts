/**
 * A clock that several processes share: it follows the clock of their database.
 *
 * Leases, claims and rates of several processes are compared with each other, so all processes must have the
 * same time, even if the clocks of their machines are wrong. This clock counts with the monotonic clock of
 * the process, which can't be set, and is corrected by measurements of the database's clock.
 *
 * The clock never goes back. A difference is removed slowly, so that processes that measure a step of the
 * database's clock at different moments still agree. Only time that this process alone has missed, while its
 * machine was suspended, is added at once: in this case the machine's clock has moved as far as the
 * database's.
 */
import type { Clock } from "../ports/clock.ts";

export interface Measurement {
  /** `monotonicMs` before the statement was sent, and after its response arrived. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The database's time while the statement ran, in milliseconds since 1970. */
  readonly time: number;
  /**
   * How far the clocks of running processes are ahead of the database's clock. Only set in the first
   * measurement.
   */
  readonly othersAheadMs?: number;
}

export interface TimeSources {
  monotonicMs(): number;
  /** The clock of the machine, in milliseconds since 1970. */
  wallMs(): number;
}

/** How fast a difference is removed: 50 ms per second. */
const slewRate = 0.05;
/**
 * If the last measurement is older, the process may have been frozen, suspended, or cut off from the
 * database.
 */
const maxAgeMs = 10_000;
/** If the clocks of the machine and the database differ by no more, they have moved equally far. */
const sameMoveMs = 1_000;

const machine: TimeSources = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

export class SharedClock {
  readonly #sources: TimeSources;
  /** What is added to the monotonic clock: `from` at the time `at`, changing towards `to`. */
  #offset: { readonly from: number; readonly to: number; readonly at: number };
  #measured: { readonly monotonic: number; readonly wall: number } | undefined;

  constructor(sources: TimeSources = machine) {
    this.#sources = sources;
    const at = sources.monotonicMs();
    const offset = sources.wallMs() - at;
    this.#offset = { from: offset, to: offset, at };
  }

  readonly now: Clock = () => {
    const monotonic = this.#sources.monotonicMs();
    return new Date(monotonic + this.#offsetAt(monotonic));
  };

  monotonicMs(): number {
    return this.#sources.monotonicMs();
  }

  /** How far the machine's clock is ahead of this clock. */
  get machineAheadMs(): number {
    return this.#sources.wallMs() - this.now().getTime();
  }

  /**
   * Whether the clock was measured within the last 10 seconds, by the monotonic clock and by the machine's
   * clock. If not, the process must not begin work that another process may be doing.
   */
  get isCurrent(): boolean {
    if (!this.#measured) {
      return false;
    }
    const { monotonic, wall } = this.#measured;
    const { monotonicMs, wallMs } = this.#sources;
    return monotonicMs() - monotonic <= maxAgeMs && Math.abs(wallMs() - wall) <= maxAgeMs;
  }

  /** Corrects the clock by the part of the difference that the duration of the measurement can't explain. */
  observe({ sentAt, receivedAt, time, othersAheadMs = 0 }: Measurement): void {
    const monotonic = this.#sources.monotonicMs();
    const wall = this.#sources.wallMs();
    const last = this.#measured;
    this.#measured = { monotonic, wall };
    const measured = time - (sentAt + receivedAt) / 2;
    if (!last) {
      const offset = measured + othersAheadMs;
      this.#offset = { from: offset, to: offset, at: monotonic };
      return;
    }
    const present = this.#offsetAt(monotonic);
    const excess = beyond(measured - present, (receivedAt - sentAt) / 2);
    const missed = wall - last.wall - (monotonic - last.monotonic);
    const wasSuspended = excess > 0 && Math.abs(excess - missed) <= sameMoveMs;
    this.#offset = { from: wasSuspended ? present + excess : present, to: present + excess, at: monotonic };
  }

  #offsetAt(monotonic: number): number {
    const { from, to, at } = this.#offset;
    const most = (monotonic - at) * slewRate;
    return from + Math.max(-most, Math.min(to - from, most));
  }
}

/** The part of the value that exceeds the tolerance, in either direction. */
function beyond(value: number, tolerance: number): number {
  return Math.sign(value) * Math.max(0, Math.abs(value) - tolerance);
}
