/**
 * Reads large JSON bodies one after the other.
 *
 * A body of a megabyte blocks the event loop for tens of milliseconds while it is parsed and validated. After
 * each body, the next one waits for as long as that took, so that other requests are served in between. The
 * organizations take turns. If an organization has too many waiting bodies, further ones are rejected,
 * because each body is kept in memory.
 */
import { fail } from "../../../tools/errors.ts";

/** A smaller body takes about a millisecond. */
export const largeBodyBytes = 32 * 1024;

/** The limit for one owner. */
const maxWaiting = 32;

/** Calls `read` when it is the owner's turn. @throws Failure `rate_limited`. */
export type LargeBodies = (owner: string, read: () => void) => void;

export function createLargeBodies(): LargeBodies {
  /** Keyed by owner; the first owner is served next. */
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
    // Runs after the remaining work for the body in this turn of the event loop.
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
