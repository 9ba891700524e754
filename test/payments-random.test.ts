/** Random sequences of what payers, the processor and the network do to an order: its wallet is always right. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PaymentStatus } from "../tools/payments.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { randomRuns } from "./support/iterations.ts";
import { createShop } from "./support/payments.ts";
import { type Razorpay, startRazorpay } from "./support/razorpay.ts";

let razorpay: Razorpay;
let app: TestApp;
beforeAll(async () => {
  razorpay = await startRazorpay();
  app = await startTestApp({ env: razorpay.env });
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await razorpay[Symbol.asyncDispose]();
});

const amountMinor = 2_000;
const minute = 60_000;
const statuses = ["failed", "authorized", "captured"] as const;

/** What happens; `payment` is the number of a payment of the order, if there are as many. */
const step = fc.record({
  what: fc.constantFrom(
    "pay",
    "pay",
    "advance",
    "verify",
    "reconcile",
    "fail",
    // Often, so that several refunds of a payment are seen one by one.
    "refund",
    "refund",
    "refund",
    "webhook",
    "webhook",
    "webhook",
  ),
  payment: fc.nat(1),
  status: fc.constantFrom(...statuses),
  amount: fc.oneof(fc.integer({ min: 1, max: 500 }), fc.constant(amountMinor)),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const ranks: Readonly<Record<PaymentStatus, number>> = {
  created: 0,
  failed: 1,
  authorized: 2,
  captured: 3,
  refunded: 4,
};

async function start() {
  const shop = await createShop(app);
  const { order_id } = await shop.order(amountMinor / 100);
  const own = () => [...razorpay.payments.values()].filter((payment) => payment.order_id === order_id);
  return { ...shop, order_id, own, checkouts: [] as ReturnType<Razorpay["pay"]>[] };
}
type Run = Awaited<ReturnType<typeof start>>;

const actions: Readonly<Record<Step["what"], (run: Run, one: Step) => Promise<unknown> | undefined>> = {
  pay: async ({ order_id, checkouts }, { status }) => {
    checkouts.push(razorpay.pay(order_id, { status, currency: "USD" }));
  },
  // Late authorizations, and captures in the dashboard.
  advance: async ({ own }, { payment, status }) => {
    const found = own()[payment];
    if (found && found.status !== "refunded" && ranks[status] > ranks[found.status]) {
      razorpay.change(found.id, { status, captured: status === "captured" });
    }
  },
  refund: async ({ own }, { payment, amount }) => {
    const found = own()[payment];
    if (found?.status === "captured" && found.amount_refunded + amount <= amountMinor) {
      const amount_refunded = found.amount_refunded + amount;
      razorpay.change(found.id, {
        amount_refunded,
        status: amount_refunded === amountMinor ? "refunded" : "captured",
      });
    }
  },
  verify: ({ verify, checkouts }, { payment }) => {
    const checkout = checkouts[payment];
    return checkout && verify(checkout).catch(() => undefined);
  },
  webhook: async ({ own }, { payment }) => {
    const found = own()[payment];
    if (found) {
      const { body, headers } = razorpay.webhook("payment.captured", found.id);
      await app.fetch("/webhooks/payments", { key: null, method: "POST", body, headers });
      await app.runDueJobs();
    }
  },
  reconcile: () => app.advanceTime(3 * minute),
  fail: async ({ own }, { payment }) => {
    razorpay.failNext(`GET /v1/payments/${own()[payment]?.id}`, "drop");
  },
};

/** The balance in the smallest unit. */
async function check(run: Run, before: ReadonlyMap<string, PaymentStatus>) {
  const entries = (await run.entries()).map((entry) => entry.split(" "));
  const sum = (type: string) =>
    entries
      .filter(([one]) => one === type)
      .reduce((total, [, amount]) => total + Math.round(Number(amount) * 100), 0);
  expect([0, amountMinor]).toContain(sum("top_up"));
  expect(Math.round((await run.balance()) * 100)).toBe(sum("top_up") - sum("refund"));
  const { payments } = await run.list();
  for (const { processor_payment_id: id, status } of payments) {
    expect(ranks[status]).toBeGreaterThanOrEqual(ranks[before.get(id) ?? "created"]);
  }
  return {
    credited: sum("top_up"),
    refunded: sum("refund"),
    states: new Map(payments.map((one) => [one.processor_payment_id, one.status])),
  };
}

test("one payment is credited, its refunds are debited, and the others are returned", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 18, size: "max" }), async (steps) => {
      const run = await start();
      let states: ReadonlyMap<string, PaymentStatus> = new Map();
      for (const one of steps) {
        await actions[one.what](run, one);
        ({ states } = await check(run, states));
      }
      // Long enough for each retry, and for the refunds of the paid order to be read.
      for (let times = 0; times < 4; times += 1) {
        await app.advanceTime(120 * minute);
      }
      const end = await check(run, states);
      const captured = run.own().filter((payment) => payment.captured);
      expect(end.credited).toBe(captured.length > 0 ? amountMinor : 0);
      // All but the credited payment were returned, so what remains there is the balance.
      const kept = captured.reduce((total, payment) => total + amountMinor - payment.amount_refunded, 0);
      expect(end.credited - end.refunded).toBe(kept);
    }),
    randomRuns(2, 6),
  );
});
