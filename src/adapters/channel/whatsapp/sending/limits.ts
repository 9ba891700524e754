/**
 * How often a person may be written to, and how often a send is tried again.
 *
 * WhatsApp allows one message in 6 seconds to a person, and 45 at once, which use up what comes next. Each process counts
 * for itself; when several together send more, WhatsApp refuses with 131056, and the waits grow by four.
 */
import type { Clock } from "../../../../ports/clock.ts";

const intervalMs = 6_000;
const burst = 45;
/** As Meta's page on error 131056 recommends: 4^n seconds. */
const firstWaitMs = 1_000;
const maxWaitMs = 1_024_000;
/** Attempts at a message that the API answers with an error that may pass. */
const maxBriefTries = 3;
/** Of each map; what has no effect any more is removed then. */
const maxEntries = 20_000;

export interface SendLimits {
  /** Takes a place for a message to this person; otherwise the time until there is one, in ms. */
  take(recipient: string): number;
  /** WhatsApp refused the message; returns how long to wait. */
  refused(recipient: string): number;
  accepted(recipient: string, token: string): void;
  /** Whether a message may be tried once more. */
  mayTryAgain(token: string): boolean;
}

export function createSendLimits(now: Clock): SendLimits {
  /** When a person's quota is complete again. */
  const fullAt = new Map<string, number>();
  const refusals = new Map<string, number>();
  const tries = new Map<string, number>();
  return {
    take(recipient) {
      const at = now().getTime();
      const full = Math.max(at, fullAt.get(recipient) ?? 0);
      const waitMs = full - at - (burst - 1) * intervalMs;
      if (waitMs > 0) {
        return waitMs;
      }
      trim(fullAt, (time) => time <= at);
      fullAt.set(recipient, full + intervalMs);
      return 0;
    },
    refused(recipient) {
      const count = refusals.get(recipient) ?? 0;
      trim(refusals, () => true);
      refusals.set(recipient, count + 1);
      return Math.min(firstWaitMs * 4 ** count, maxWaitMs);
    },
    accepted(recipient, token) {
      refusals.delete(recipient);
      tries.delete(token);
    },
    mayTryAgain(token) {
      const count = (tries.get(token) ?? 0) + 1;
      trim(tries, () => true);
      tries.set(token, count);
      return count < maxBriefTries;
    },
  };
}

function trim(map: Map<string, number>, isOver: (value: number) => boolean): void {
  if (map.size < maxEntries) {
    return;
  }
  for (const [key, value] of map) {
    if (isOver(value)) {
      map.delete(key);
    }
  }
}
