/** How long a failed job waits for its next attempt. */

const firstMs = 1_000;
const longestMs = 3_600_000;

/**
 * Milliseconds to wait after the attempt of this number (from 1): doubling from 1 s to at most 1 h, give or
 * take 20 %, so that jobs that failed together do not come back together.
 */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const whole = Math.min(firstMs * 2 ** (attempt - 1), longestMs);
  return Math.round(whole * (0.8 + 0.4 * random()));
}
