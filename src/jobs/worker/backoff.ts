/** The exponential backoff between the attempts of a job. */

const initialMs = 1_000;
const maxMs = 3_600_000;

/**
 * Milliseconds to wait after the attempt of this number (from 1): doubling from 1 s to at most 1 h, with 20 %
 * jitter so that jobs that failed together are not retried together.
 */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const ms = Math.min(initialMs * 2 ** (attempt - 1), maxMs);
  return Math.round(ms * (0.8 + 0.4 * random()));
}
