/** The states of a message, with receipts in any order. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { advanceStatus, type MessageProgress } from "../src/platform/inbox/messages/progress/states.ts";
import { randomRuns } from "./support/iterations.ts";

const queued: MessageProgress = {
  status: "queued",
  sent_at: null,
  delivered_at: null,
  read_at: null,
  failed_at: null,
};
const types = ["sent", "delivered", "read", "failed"] as const;
type Type = (typeof types)[number];

const run = (receipts: readonly Type[]) =>
  receipts.reduce(
    (state, type, index) => advanceStatus(state, type, new Date(index * 1000).toISOString()),
    queued,
  );

test("100,000 random sequences reach no illegal state", () => {
  const rank = { queued: 0, sending: 0, sent: 1, delivered: 2, read: 3, failed: -1, received: -1 };
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...types), { maxLength: 12 }), (receipts) => {
      const { status, ...times } = run(receipts);
      const highest = Math.max(0, ...receipts.map((type) => (type === "failed" ? 0 : rank[type])));
      const isFailed = receipts.includes("failed") && highest < 2;
      return [
        // A delivery receipt overrides a failure; without one, a failure decides.
        (status === "failed") === isFailed,
        isFailed || rank[status] === highest,
        // A read message was delivered, and a delivered one was sent.
        times.read_at === null || times.delivered_at !== null,
        times.delivered_at === null || times.sent_at !== null,
        (times.failed_at !== null) === (status === "failed"),
      ].every(Boolean);
    }),
    randomRuns(5_000, 100_000),
  );
});

test("times are in the order of the states, whatever the clocks of their receipts", () => {
  const step = fc.tuple(fc.constantFrom(...types, "accepted" as const), fc.integer({ min: 0, max: 9_999 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const { sent_at, delivered_at, read_at } = steps.reduce(
        (state, [type, ms]) => advanceStatus(state, type, new Date(ms).toISOString()),
        queued,
      );
      const times = [sent_at, delivered_at, read_at].filter((time) => time !== null);
      return times.join() === [...times].sort().join();
    }),
    randomRuns(2_000, 10_000),
  );
});

test("the channel's time replaces our own, and ours replaces none", () => {
  const [ours, channels] = ["2030-01-01T00:00:02.000Z", "2030-01-01T00:00:01.000Z"];
  const accepted = advanceStatus(queued, "accepted", ours);
  expect(accepted).toMatchObject({ status: "sent", sent_at: ours });
  expect(advanceStatus(accepted, "sent", channels).sent_at).toBe(channels);
  const received = advanceStatus(queued, "sent", channels);
  expect(advanceStatus(received, "accepted", ours).sent_at).toBe(channels);
});

test("a repeated receipt changes nothing", () => {
  const once = run(["sent", "delivered"]);
  expect(advanceStatus(once, "delivered", "2030-01-01T00:00:00.000Z").status).toBe(once.status);
  expect(advanceStatus(once, "sent", "2030-01-01T00:00:00.000Z").status).toBe(once.status);
});

test("a failure after delivery is ignored, a delivery after a failure is not", () => {
  expect(run(["sent", "delivered", "failed"]).status).toBe("delivered");
  expect(run(["sent", "failed", "delivered"])).toMatchObject({ status: "delivered", failed_at: null });
  expect(run(["failed", "sent"]).status).toBe("failed");
});
