/** The processor's webhook: signatures, repetitions, order of events, and what it credits. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import vectors from "./fixtures/razorpay/signature-vectors.json" with { type: "json" };
import { startTestApp, type TestApp } from "./support/app.ts";
import { createShop } from "./support/payments.ts";
import { type Razorpay, razorpayKeys, signBody, startRazorpay } from "./support/razorpay.ts";

const hour = 3_600_000;
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
beforeEach(() => {
  razorpay.requests.length = 0;
});

async function start(amount = 20) {
  const shop = await createShop(app, "INR");
  return { ...shop, order_id: (await shop.order(amount)).order_id };
}

interface SentWebhook {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const send = ({ body, headers }: SentWebhook) =>
  app.fetch("/webhooks/payments", {
    key: null,
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  });

async function deliver(sent: SentWebhook) {
  expect((await send(sent)).status).toBe(200);
  await app.runDueJobs();
}

const countEvents = async () =>
  (await app.server.database.queries.selectFrom("payment_events").selectAll().execute()).length;

test("a captured payment is credited without a verification, which then answers as usual", async () => {
  const shop = await start();
  const checkout = razorpay.pay(shop.order_id);
  await deliver(razorpay.webhook("payment.captured", checkout.processor_payment_id));
  expect(await shop.balance()).toBe(20);
  expect(await shop.verify(checkout)).toMatchObject({ status: "captured", amount: 20, new_balance: 20 });
  expect(await shop.entries()).toEqual(["top_up 20"]);
});

test("an authorized payment is captured by us", async () => {
  const shop = await start();
  const { processor_payment_id: id } = razorpay.pay(shop.order_id, { status: "authorized" });
  await deliver(razorpay.webhook("payment.authorized", id));
  expect(razorpay.payments.get(id)).toMatchObject({ status: "captured" });
  expect(await shop.balance()).toBe(20);
});

test("an event that arrives again is stored and handled once", { tags: "both" }, async () => {
  const shop = await start();
  const { processor_payment_id: id } = razorpay.pay(shop.order_id);
  const event = razorpay.webhook("payment.captured", id, "evt_once");
  const before = await countEvents();
  for (let number = 0; number < 5; number += 1) {
    await deliver(event);
  }
  expect(await countEvents()).toBe(before + 1);
  expect(razorpay.countRequests(`GET /v1/payments/${id}`)).toBe(1);
  expect(await shop.entries()).toEqual(["top_up 20"]);
});

test("events of every kind, in the wrong order and again, credit once", { tags: "both" }, async () => {
  const shop = await start();
  const { processor_payment_id: id } = razorpay.pay(shop.order_id, { status: "failed" });
  const failed = razorpay.webhook("payment.failed", id);
  await deliver(failed);
  expect((await shop.list()).payments).toMatchObject([{ status: "failed" }]);
  razorpay.change(id, { status: "captured", captured: true });
  const events = ["order.paid", "payment.captured", "payment.authorized", "payment.failed"];
  for (const event of events) {
    await deliver(razorpay.webhook(event, id));
  }
  expect((await shop.list()).payments).toMatchObject([{ status: "captured" }]);
  expect(await shop.entries()).toEqual(["top_up 20"]);
});

test("the body is not believed: what counts is what the processor answers", async () => {
  const shop = await start();
  const { processor_payment_id: id } = razorpay.pay(shop.order_id, { status: "failed" });
  const { body } = razorpay.webhook("payment.captured", id);
  const claimed = body.replaceAll('"failed"', '"captured"').replace('"captured":false', '"captured":true');
  await deliver({ body: claimed, headers: { "x-razorpay-signature": signBody(claimed) } });
  expect(await shop.balance()).toBe(0);
  expect((await shop.list()).payments).toMatchObject([{ status: "failed" }]);
});

test("partial refunds and the last one debit the wallet once each", { tags: "both" }, async () => {
  const shop = await start();
  const { processor_payment_id: id } = razorpay.pay(shop.order_id);
  await deliver(razorpay.webhook("payment.captured", id));
  razorpay.change(id, { amount_refunded: 500 });
  const first = razorpay.webhook("refund.processed", id);
  await deliver(first);
  razorpay.change(id, { amount_refunded: 1_200 });
  await deliver(razorpay.webhook("refund.processed", id));
  await deliver(first);
  razorpay.change(id, { amount_refunded: 2_000, status: "refunded" });
  await deliver(razorpay.webhook("refund.processed", id));
  await app.advanceTime(3 * hour);
  expect(await shop.entries()).toEqual(["top_up 20", "refund 5", "refund 7", "refund 8"]);
  expect(await shop.balance()).toBe(0);
  expect((await shop.list()).payments).toMatchObject([{ status: "refunded", amount_refunded: 20 }]);
});

test("a refund event that names only the payment is handled", async () => {
  const shop = await start();
  const { processor_payment_id: id } = razorpay.pay(shop.order_id);
  await deliver(razorpay.webhook("payment.captured", id));
  razorpay.change(id, { amount_refunded: 2_000, status: "refunded" });
  const refund = { entity: { id: "rfnd_9", payment_id: id } };
  const body = JSON.stringify({ entity: "event", event: "refund.processed", payload: { refund } });
  await deliver({ body, headers: { "x-razorpay-signature": signBody(body) } });
  expect(await shop.balance()).toBe(0);
});

test("a second payment of a paid order is refunded", { tags: "both" }, async () => {
  const shop = await start();
  for (let number = 0; number < 2; number += 1) {
    const { processor_payment_id: id } = razorpay.pay(shop.order_id);
    await deliver(razorpay.webhook("payment.captured", id));
  }
  const own = [...razorpay.payments.values()].filter(({ order_id }) => order_id === shop.order_id);
  expect(own.map(({ status }) => status)).toEqual(["captured", "refunded"]);
  expect(await shop.entries()).toEqual(["top_up 20"]);
});

test("an event that can't be handled now is handled later", async () => {
  const shop = await start();
  const { processor_payment_id: id } = razorpay.pay(shop.order_id);
  razorpay.failNext(`GET /v1/payments/${id}`, "drop", "html", "busy");
  await deliver(razorpay.webhook("payment.captured", id));
  expect(await shop.balance()).toBe(0);
  await app.advanceTime(5_000);
  expect(await shop.balance()).toBe(20);
});

describe("a request is rejected", () => {
  test("with a forged signature, and nothing is stored", async () => {
    const shop = await start();
    const { processor_payment_id: id } = razorpay.pay(shop.order_id);
    const { body, headers } = razorpay.webhook("payment.captured", id);
    const before = await countEvents();
    const signature = headers["x-razorpay-signature"] ?? "";
    const forged: SentWebhook[] = [
      { body, headers: {} },
      { body, headers: { "x-razorpay-signature": "" } },
      { body, headers: { "x-razorpay-signature": signature.slice(1) } },
      { body, headers: { "x-razorpay-signature": signature.replace(/^./, (c) => (c === "0" ? "1" : "0")) } },
      { body: `${body} `, headers },
      { body: "", headers },
    ];
    for (const each of forged) {
      const answer = await send(each);
      expect({ status: answer.status, body: await answer.json() }).toMatchObject({
        status: 400,
        body: { error: { code: "invalid_signature" } },
      });
    }
    await app.runDueJobs();
    expect(await countEvents()).toBe(before);
    expect(await shop.balance()).toBe(0);
  });

  test("signed with the key's secret, which is another one", async () => {
    const shop = await start();
    const { processor_payment_id: id } = razorpay.pay(shop.order_id);
    const { body } = razorpay.webhook("payment.captured", id);
    const { createHmac } = await import("node:crypto");
    const signature = createHmac("sha256", razorpayKeys.keySecret).update(body).digest("hex");
    expect((await send({ body, headers: { "x-razorpay-signature": signature } })).status).toBe(400);
  });
});

describe("the processor's own example", () => {
  test.each(vectors.webhook)(
    "$signature is accepted, and changed by one character rejected",
    async (vector) => {
      expect(vector.webhook_secret).toBe(razorpayKeys.webhookSecret);
      const headers = { "x-razorpay-signature": vector.signature };
      const before = await countEvents();
      expect((await send({ body: vector.raw_body, headers })).status).toBe(200);
      expect((await send({ body: vector.raw_body.replace(/\d/, "7"), headers })).status).toBe(400);
      // They are of no order of ours.
      expect(await countEvents()).toBe(before);
    },
  );
});

test("an event of an unknown order or of another kind is accepted and ignored", {
  tags: "both",
}, async () => {
  const before = await countEvents();
  const bodies = [
    { event: "payment.captured", payload: { payment: { entity: { id: "pay_x", order_id: "order_x" } } } },
    { event: "refund.processed", payload: { refund: { entity: { id: "rfnd_x", payment_id: "pay_x" } } } },
    { event: "settlement.processed", payload: { settlement: { entity: { id: "setl_1" } } } },
    [],
    "text",
  ].map((body) => JSON.stringify(body));
  for (const body of [...bodies, "not json"]) {
    expect((await send({ body, headers: { "x-razorpay-signature": signBody(body) } })).status).toBe(200);
  }
  expect(await countEvents()).toBe(before);
});

test("events are deleted after a week", async () => {
  const shop = await start();
  const { processor_payment_id: id } = razorpay.pay(shop.order_id);
  const before = await countEvents();
  await deliver(razorpay.webhook("payment.captured", id));
  expect(await countEvents()).toBe(before + 1);
  await app.advanceTime(8 * 24 * hour);
  expect(await countEvents()).toBe(0);
});
