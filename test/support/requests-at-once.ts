/** How many requests a test sends at once, by engine. */
import { serverUrl } from "./postgres.ts";

/**
 * Fewer to the embedded engine than to PostgreSQL: it has one connection, for which a request waits up to
 * five seconds.
 */
export const requestsAtOnce = (counts: { readonly embedded: number; readonly postgres: number }): number =>
  serverUrl === undefined ? counts.embedded : counts.postgres;
