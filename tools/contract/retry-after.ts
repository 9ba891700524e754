/** Reads the HTTP header `Retry-After`. */

/** Milliseconds from `now`, at least 0; undefined where the header is neither seconds nor a date. */
export function readRetryAfterMs(header: string, now: Date): number | undefined {
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now.getTime();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
