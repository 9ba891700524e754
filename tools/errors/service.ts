/** What is not the caller's fault: too much at once, or our own failure. */
import { type Entry, entry } from "./entry.ts";

export const serviceErrors = {
  rate_limited: entry("rate_limit", 429, "Too many requests.", "Wait {retry_after} s and try again."),
  internal: entry(
    "internal",
    500,
    "The service failed to answer.",
    "Try again; if it happens again, report the request id.",
  ),
  unavailable: entry(
    "internal",
    503,
    "The service can't answer just now: {reason}",
    "Try again in a moment.",
  ),
} as const satisfies Record<string, Entry>;
