/**
 * Claims of calls to third parties. The process that makes a call extends its claim while the call runs; a
 * claim whose time has passed belongs to a call whose process died.
 */
import type { World } from "../../context.ts";
import type { OutwardClaim } from "../../planned.ts";

/** How long after a crash the call still counts as running. */
const leaseMs = 10_000;
const renewEveryMs = 3_000;

/** The time until which a claim counts as running, unless it is extended. */
export function runningUntil(now: Date): string {
  return new Date(now.getTime() + leaseMs).toISOString();
}

/** Extends the claim. Call the returned function when the call has ended. */
export function keepRunning({ database, now, log }: World, claim: Pick<OutwardClaim, "renew">): () => void {
  const timer = setInterval(() => {
    claim
      .renew(database.queries, runningUntil(now()))
      .catch((error: unknown) => log.warn({ err: error }, "A running call could not be extended"));
  }, renewEveryMs);
  return () => clearInterval(timer);
}
