/**
 * One payment that everything reports at the same time: verification, webhook, reconciliation.
 * It is credited once.
 */
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findDifferences } from "../src/platform/money/wallet/audit.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { createShop } from "./support/payments.ts";
import { type Razorpay, startRazorpay } from "./support/razorpay.ts";
import { requestsAtOnce } from "./support/requests-at-once.ts";

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

async function start() {
  const shop = await createShop(app, "INR");
  return { ...shop, order_id: (await shop.order(20)).order_id };
}

/**
 * Runs the reconciliation at once. The clock stays: a call counts as interrupted when its lease has passed.
 */
async function reconcile(): Promise<void> {
  const { queries } = app.server.database;
  const now = app.now().toISOString();
  await sql`update payment_orders set next_check_at = ${now}`.execute(queries);
  await sql`update jobs set run_at = ${now} where name = 'payment.reconcile' and claimed_by is null`.execute(
    queries,
  );
  await app.runDueJobs();
}

function sendWebhook(payment_id: string, event_id: string) {
  const { body, headers } = razorpay.webhook("payment.captured", payment_id, event_id);
  return app.fetch("/webhooks/payments", { key: null, method: "POST", body, headers });
}

const repeats = requestsAtOnce({ embedded: 10, postgres: 100 });

test("a payment that is verified many times while its webhook comes 20 times and the jobs run is credited once", async () => {
  const shop = await start();
  const checkout = razorpay.pay(shop.order_id, { status: "authorized" });
  const verifications = Array.from({ length: repeats }, () => shop.verify(checkout));
  const webhooks = Array.from({ length: 20 }, (_, index) =>
    // Half of them repeat one event.
    sendWebhook(checkout.processor_payment_id, index % 2 === 0 ? "evt_same" : `evt_${index}`),
  );
  const jobs = Array.from({ length: 5 }, reconcile);
  const [answers, received] = await Promise.all([Promise.all(verifications), Promise.all(webhooks), ...jobs]);
  await app.runDueJobs();
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toMatchObject({ status: "captured", amount: 20, new_balance: 20 });
  expect(new Set(received.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await shop.entries()).toEqual(["top_up 20"]);
  expect(await shop.balance()).toBe(20);
  expect(await findDifferences(app.server.database.queries, shop.id)).toEqual([]);
});

test("of several payments of one order at the same time, one is credited and the others are refunded", async () => {
  const shop = await start();
  const checkouts = Array.from({ length: 4 }, () => razorpay.pay(shop.order_id));
  const outcomes = checkouts.flatMap((checkout) => [
    ...Array.from({ length: 5 }, () =>
      shop.verify(checkout).then(
        () => "credited",
        ({ code }: { code: string }) => code,
      ),
    ),
    sendWebhook(checkout.processor_payment_id, checkout.processor_payment_id).then(() => "received"),
  ]);
  const counts = new Map<string, number>();
  for (const outcome of await Promise.all([...outcomes, reconcile().then(() => "reconciled")])) {
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  expect(Object.fromEntries(counts)).toEqual({
    credited: 5,
    order_already_paid: 15,
    received: 4,
    reconciled: 1,
  });
  await app.advanceTime(60_000);
  await app.advanceTime(60_000);
  const own = [...razorpay.payments.values()].filter(({ order_id }) => order_id === shop.order_id);
  expect(own.map(({ status }) => status).sort()).toEqual(["captured", "refunded", "refunded", "refunded"]);
  expect(await shop.entries()).toEqual(["top_up 20"]);
});

test("refunds that are reported at the same time debit their total once", async () => {
  const shop = await start();
  const checkout = razorpay.pay(shop.order_id);
  await shop.verify(checkout);
  const { processor_payment_id: id } = checkout;
  const reports: Promise<unknown>[] = [];
  for (const amount_refunded of [300, 700, 1_500, 2_000]) {
    razorpay.change(id, { amount_refunded, ...(amount_refunded === 2_000 ? { status: "refunded" } : {}) });
    reports.push(...[1, 2, 3].map((number) => sendWebhook(id, `evt_${amount_refunded}_${number}`)));
    reports.push(app.runDueJobs());
  }
  await Promise.all(reports);
  await app.runDueJobs();
  expect(await shop.balance()).toBe(0);
  const entries = await shop.entries();
  const debited = entries
    .filter((entry) => entry.startsWith("refund"))
    .map((entry) => Number(entry.split(" ")[1]));
  expect(debited.reduce((sum, amount) => sum + amount, 0)).toBe(20);
});
