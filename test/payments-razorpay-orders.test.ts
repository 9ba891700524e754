/** Payment orders at Razorpay, over HTTP to an emulator: what it refuses, and what breaks on the way. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createRazorpay } from "../src/adapters/payments/razorpay/index.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createShop } from "./support/payments.ts";
import { type Fault, type Razorpay, razorpayKeys, startRazorpay } from "./support/razorpay.ts";

const minute = 60_000;
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

const start = () => createShop(app, "INR");

const fail = (call: Promise<unknown>) => expectFailure(call).then(({ status, code }) => ({ status, code }));

const ordersOf = (organization: string) =>
  [...razorpay.orders.values()].filter(({ notes }) => notes.organization_id === organization);

describe("an order", () => {
  test("has the amount in paise, a receipt and the public key", async () => {
    const shop = await start();
    const order = await shop.order(499.5);
    expect(order).toMatchObject({ amount: 499.5, currency: "INR", processor_key_id: razorpayKeys.keyId });
    expect(ordersOf(shop.id)).toMatchObject([
      { id: order.order_id, amount: 49_950, currency: "INR", receipt: expect.stringMatching(/^por_.{26}$/) },
    ]);
  });

  test("below one rupee is rejected before the processor is asked", async () => {
    const { order } = await start();
    const failure = await expectFailure(order(0.99));
    expect(failure).toMatchObject({ status: 400, code: "amount_below_minimum" });
    expect(failure.message).toBe("The payment processor takes at least 1 INR.");
    expect(razorpay.requests).toEqual([]);
  });

  const once: Fault[] = ["drop", "lost", "html", "busy", "error", "odd"];
  test.each(once)("is created once if the first attempt fails with %s", async (fault) => {
    const shop = await start();
    razorpay.failNext("POST /v1/orders", fault);
    const { order_id } = await shop.order();
    expect(ordersOf(shop.id).map(({ id }) => id)).toEqual([order_id]);
    expect(razorpay.countRequests("GET /v1/orders")).toBe(1);
  });

  test("that can't be created answers 503, and the next request finds it by its receipt", async () => {
    const shop = await start();
    razorpay.failNext("POST /v1/orders", "lost");
    razorpay.failNext("GET /v1/orders", "html", "html");
    expect(await fail(shop.order())).toEqual({ status: 503, code: "payment_processor_unavailable" });
    const [created] = ordersOf(shop.id);
    expect(await shop.order(100)).not.toMatchObject({ order_id: created?.id });
    expect(await shop.order()).toMatchObject({ order_id: created?.id, amount: 500 });
    expect(ordersOf(shop.id)).toHaveLength(2);
    await shop.order();
    expect(ordersOf(shop.id)).toHaveLength(3);
  });

  test("is found, not created again, under the same idempotency key", async () => {
    const shop = await start();
    const create = () =>
      app.fetch("/v1/billing/payments/orders", {
        key: shop.key,
        method: "POST",
        json: { amount: 7 },
        headers: { "idempotency-key": "seven" },
      });
    razorpay.failNext("POST /v1/orders", "lost");
    razorpay.failNext("GET /v1/orders", "drop", "drop");
    expect((await create()).status).toBe(503);
    const answer = await create();
    expect(answer.status).toBe(201);
    const [created, ...others] = ordersOf(shop.id);
    expect(others).toEqual([]);
    expect(await answer.json()).toMatchObject({ data: { order_id: created?.id } });
  });

  test("whose process died is looked up by the job, and created if it is not there", async () => {
    const shop = await start();
    const headers = { "idempotency-key": "cut" };
    razorpay.failNext("POST /v1/orders", "hang");
    const cut = new AbortController();
    const body = { key: shop.key, method: "POST", json: { amount: 9 }, headers };
    const request = app
      .fetch("/v1/billing/payments/orders", { ...body, signal: cut.signal })
      .catch(() => "cut");
    await expect.poll(() => razorpay.countRequests("POST /v1/orders")).toBe(1);
    cut.abort();
    expect(await request).toBe("cut");
    await app.server.database.queries
      .updateTable("outward_calls")
      .set({ running_until: new Date(app.now().getTime() - 1).toISOString() })
      .execute();
    await app.advanceTime(minute);
    const answer = await app.fetch("/v1/billing/payments/orders", body);
    const [created, ...others] = ordersOf(shop.id);
    expect(others).toEqual([]);
    expect(await answer.json()).toMatchObject({ data: { order_id: created?.id, amount: 9 } });
  });

  test("that the processor refuses answers its reason, and leaves nothing", async () => {
    const shop = await start();
    const failure = await expectFailure(shop.order(600_000));
    expect(failure).toMatchObject({ status: 422, code: "payment_order_refused" });
    expect(failure.message).toBe(
      "The payment processor refused the order: Amount exceeds maximum amount allowed.",
    );
    const { queries } = app.server.database;
    const rows = queries.selectFrom("payment_orders").selectAll().where("organization_id", "=", shop.id);
    expect(await rows.execute()).toEqual([]);
  });
});

describe("where receipts are not unique at the processor", async () => {
  const { signal } = new AbortController();
  let other: Razorpay;
  beforeAll(async () => {
    other = await startRazorpay({ knowsUniqueReceipt: false });
  });
  afterAll(() => other[Symbol.asyncDispose]());

  test("the order is created without the field, and looked up before a retry", async () => {
    const client = createRazorpay({ ...razorpayKeys, baseUrl: other.baseUrl, timeoutMs: 30_000 });
    const order = {
      organization_id: "org_1",
      receipt: "por_1",
      amount: 100,
      currency: "INR",
      isRepeated: false,
    };
    const create = () => client.createOrder(order, signal);
    other.failNext("POST /v1/orders", "error", "lost");
    const created = await create();
    expect([...other.orders.keys()]).toEqual([created.outcome === "created" && created.order_id]);
    const repeated = client.createOrder({ ...order, isRepeated: true }, signal);
    expect(await repeated).toEqual(created);
    expect(other.orders.size).toBe(1);
  });

  test("a request without an answer is given up and tried again", async () => {
    const client = createRazorpay({ ...razorpayKeys, baseUrl: other.baseUrl, timeoutMs: 1_000 });
    const key = { organization_id: "org_1", payment_id: "pay_1" };
    other.pay("order_1", { id: "pay_1" });
    other.failNext("GET /v1/payments/pay_1", "hang", "hang");
    expect(await client.findPayment(key, signal)).toMatchObject({ status: "captured" });
    other.failNext("GET /v1/payments/pay_1", "hang", "hang", "hang");
    await expect(client.findPayment(key, signal)).rejects.toThrow();
  });
});
