/** The limits of sending: messages a second for each number, and the pair limit for each customer. */
import { GraphError } from "../contract/graph-error.ts";
import type { Thread } from "../state/customers.ts";

/** A message to one customer each 6 seconds; up to 45 in 6 seconds borrow from the time after them. */
const pairIntervalMs = 6_000;
const maxBurst = 45;

export interface Throughput {
  /** @throws GraphError 130429 when the number has sent as many messages within the last second. */
  take(phoneId: string, perSecond: number, now: number): void;
}

/** In any second at most as many as allowed. A refused message does not count. */
export function createThroughput(): Throughput {
  const accepted = new Map<string, { readonly times: number[]; first: number }>();
  return {
    take(phoneId, perSecond, now) {
      const queue = accepted.get(phoneId) ?? { times: [], first: 0 };
      accepted.set(phoneId, queue);
      while ((queue.times[queue.first] ?? now) <= now - 1_000) {
        queue.first += 1;
      }
      // Removing each one by itself would copy the rest each time.
      if (queue.first > 1_000) {
        queue.times.splice(0, queue.first);
        queue.first = 0;
      }
      if (queue.times.length - queue.first >= perSecond) {
        throw new GraphError(
          130429,
          "Cloud API message throughput has been reached: messages sent too quickly from this phone number",
        );
      }
      queue.times.push(now);
    },
  };
}

/** @throws GraphError 131056 */
export function takePair(thread: Thread, now: number): void {
  const { burst } = thread;
  if (now >= burst.started_at + burst.count * pairIntervalMs) {
    thread.burst = { started_at: now, count: 1 };
  } else if (now < burst.started_at + pairIntervalMs && burst.count < maxBurst) {
    burst.count += 1;
  } else {
    throw new GraphError(131056, "Too many messages sent from this phone number to the same user");
  }
}
