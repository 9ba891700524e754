/** The quota of one person, compared with a bucket that is filled millisecond by millisecond. */
import { expect, test } from "vitest";
import { createQuotas, takePlace } from "../src/platform/inbox/messages/delivery/person-quota.ts";
import { createRandom } from "./support/starts.ts";

const intervalMs = 6_000;
const burst = 45;
const rate = { burst, intervalMs };

/** A bucket of 45 places, of which one comes back every 6 seconds. */
function createBucket() {
  let level = burst * intervalMs;
  let last = 0;
  const fill = (at: number) => {
    level = Math.min(burst * intervalMs, level + at - last);
    last = at;
  };
  return {
    waitMs(at: number) {
      fill(at);
      return Math.max(0, intervalMs - level);
    },
    take() {
      level -= intervalMs;
    },
  };
}

/** Plays a sequence of messages by the bucket and by `takePlace`; returns the first difference. */
function findDifference(random: () => number): string | undefined {
  const bucket = createBucket();
  const paceMs = [0, 50, 2_000, 6_000, 20_000][Math.floor(random() * 5)] ?? 0;
  let at = 0;
  let quotaRestoredAt = 0;
  for (let message = 0; message < 120; message += 1) {
    at += Math.floor(random() * 2 * paceMs);
    const place = takePlace(rate, { restoredAt: quotaRestoredAt, at });
    const expectedMs = bucket.waitMs(at);
    const waitMs = "quotaRestoredAt" in place ? 0 : place.waitUntil - at;
    if (waitMs !== expectedMs || "quotaRestoredAt" in place !== (expectedMs === 0)) {
      return `message ${message} at ${at}: ${JSON.stringify(place)}, but the bucket says to wait ${expectedMs} ms`;
    }
    if ("quotaRestoredAt" in place) {
      bucket.take();
      quotaRestoredAt = place.quotaRestoredAt;
    } else {
      at = random() < 0.5 ? place.waitUntil : at;
    }
  }
  return undefined;
}

test("in 10,000 random sequences a place is given, or the time until there is one, as by a bucket", () => {
  const random = createRandom(33);
  for (let sequence = 0; sequence < 10_000; sequence += 1) {
    expect(findDifference(random)).toBeUndefined();
  }
});

test("several messages of a person in one claim take places one after the other, and no other person's", () => {
  const quotas = createQuotas(0);
  const stored = new Date(40 * intervalMs).toISOString();
  const places = Array.from({ length: 7 }, () =>
    quotas.take(rate, { conversation_id: "conv_1", person_full_at: stored }),
  );
  const areAllowed = places.map((place) => "quotaRestoredAt" in place);
  expect(areAllowed).toEqual([true, true, true, true, true, false, false]);
  expect(places.at(-1)).toEqual({ waitUntil: intervalMs });
  expect(quotas.take(rate, { conversation_id: "conv_2", person_full_at: null })).toEqual({
    quotaRestoredAt: intervalMs,
  });
});

test("a time of a wrong clock is not waited for", () => {
  expect(takePlace(rate, { restoredAt: 365 * 24 * 3_600_000, at: 0 })).toEqual({ waitUntil: intervalMs });
});
