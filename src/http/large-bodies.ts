/**
 * Reads large JSON bodies one after the other.
 *
 * A body of a megabyte blocks the event loop for tens of milliseconds while it is parsed and validated. After each one
 * the next waits as long as that took, so that the requests of others are served in between. The organizations take
 * turns, and one that has too many waiting is rejected, because each is kept in memory.
 */
import { fail } from "../../tools/errors.ts";

/** A smaller body takes about a millisecond. */
export const largeBodyBytes = 32 * 1024;

/** Of one owner. */
const maxWaiting = 32;

/** Calls `read` when it is the owner's turn. @throws Failure `rate_limited`. */
export type LargeBodies = (owner: string, read: () => void) => void;

export function createLargeBodies(): LargeBodies {
  /** By owner; the first owner is next. */
  const waiting = new Map<string, (() => void)[]>();
  let isBusy = false;

  const next = (): void => {
    const [first] = waiting;
    if (!first) {
      isBusy = false;
      return;
    }
    const [owner, [read, ...others]] = first;
    waiting.delete(owner);
    if (others.length > 0) {
      waiting.set(owner, others);
    }
    const startedAt = performance.now();
    // After what follows the reading in this turn of the event loop.
    setImmediate(() => setTimeout(next, performance.now() - startedAt));
    read?.();
  };

  return (owner, read) => {
    const own = waiting.get(owner) ?? [];
    if (own.length >= maxWaiting) {
      throw fail("rate_limited", { retry_after: 1 });
    }
    waiting.set(owner, [...own, read]);
    if (!isBusy) {
      isBusy = true;
      next();
    }
  };
}
