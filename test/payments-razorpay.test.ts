/** Payments through Razorpay, over HTTP to an emulator: verification, refunds, signatures, settings. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createRazorpay } from "../src/adapters/payments/razorpay/index.ts";
import { sign } from "../src/adapters/payments/signature.ts";
import { readConfig } from "../src/config/index.ts";
import vectors from "./fixtures/razorpay/signature-vectors.json" with { type: "json" };
import { startTestApp, type TestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createShop } from "./support/payments.ts";
import { type Fault, type Razorpay, razorpayKeys, signCheckout, startRazorpay } from "./support/razorpay.ts";

const minute = 60_000;
const log: unknown[] = [];
const record = (...entry: unknown[]) => void log.push(entry);
let razorpay: Razorpay;
let app: TestApp;
beforeAll(async () => {
  razorpay = await startRazorpay();
  const recordingLog = { debug: record, info: record, warn: record, error: record };
  app = await startTestApp({ env: razorpay.env, log: recordingLog });
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

describe("a verification", () => {
  test("captures an authorized payment once, and credits it", async () => {
    const shop = await start();
    const checkout = razorpay.pay((await shop.order(20)).order_id, { status: "authorized" });
    expect(await shop.verify(checkout)).toMatchObject({ status: "captured", amount: 20, new_balance: 20 });
    await shop.verify(checkout);
    expect(razorpay.countRequests(`POST /v1/payments/${checkout.processor_payment_id}/capture`)).toBe(1);
    expect(await shop.balance()).toBe(20);
  });

  test.each<Fault>(["lost", "drop", "html", "busy"])(
    "captures a payment whose capture answers %s",
    async (fault) => {
      const shop = await start();
      const checkout = razorpay.pay((await shop.order(20)).order_id, { status: "authorized" });
      razorpay.failNext(`POST /v1/payments/${checkout.processor_payment_id}/capture`, fault);
      expect(await shop.verify(checkout)).toMatchObject({ status: "captured", new_balance: 20 });
    },
  );

  test("answers 503 while the processor is down, and works afterwards", async () => {
    const shop = await start();
    const checkout = razorpay.pay((await shop.order(20)).order_id);
    const read = `GET /v1/payments/${checkout.processor_payment_id}`;
    razorpay.failNext(read, "drop", "html", "busy");
    const failure = await expectFailure(shop.verify(checkout));
    expect(failure).toMatchObject({ status: 503, code: "payment_processor_unavailable" });
    expect(failure.message).not.toContain("Gateway");
    expect(await shop.balance()).toBe(0);
    expect(await shop.verify(checkout)).toMatchObject({ new_balance: 20 });
  });

  test.each([
    ["amount", { amount: 1_999 }, 1],
    ["currency", { currency: "USD" }, 1],
    ["order", { order_id: "order_other" }, 0],
  ])("rejects a payment of another %s, which no job credits either", async (_, changes, listed) => {
    const shop = await start();
    const { order_id } = await shop.order(20);
    const { processor_payment_id } = razorpay.pay(order_id, changes);
    const checkout = signCheckout(order_id, processor_payment_id);
    expect(await fail(shop.verify(checkout))).toEqual({ status: 409, code: "payment_mismatch" });
    await app.advanceTime(10 * minute);
    expect(await shop.balance()).toBe(0);
    expect(await shop.entries()).toEqual([]);
    expect((await shop.list()).payments).toHaveLength(listed);
  });

  test("rejects a payment that the processor does not have", async () => {
    const shop = await start();
    const { order_id } = await shop.order(20);
    expect(await fail(shop.verify(signCheckout(order_id, "pay_unknown")))).toEqual({
      status: 409,
      code: "payment_mismatch",
    });
    expect(await fail(shop.verify(signCheckout(order_id, "../orders")))).toMatchObject({ status: 503 });
  });
});

test("a second payment is refunded once, whatever breaks", async () => {
  const shop = await start();
  const { order_id } = await shop.order(20);
  await shop.verify(razorpay.pay(order_id));
  const second = razorpay.pay(order_id);
  const id = second.processor_payment_id;
  razorpay.failNext(`POST /v1/payments/${id}/refund`, "drop", "lost", "html");
  expect(await fail(shop.verify(second))).toEqual({ status: 409, code: "order_already_paid" });
  await app.advanceTime(5 * minute);
  await app.advanceTime(5 * minute);
  expect(razorpay.refunds.filter(({ payment_id }) => payment_id === id)).toEqual([
    { payment_id: id, amount: 2_000 },
  ]);
  expect(await shop.balance()).toBe(20);
  expect((await shop.list()).payments.map(({ status }) => status).sort()).toEqual(["captured", "refunded"]);
});

test("a payment that was refunded without having been captured is not credited", async () => {
  const shop = await start();
  const { order_id } = await shop.order(20);
  razorpay.pay(order_id, { status: "refunded", captured: false, amount_refunded: 2_000 });
  await app.advanceTime(10 * minute);
  expect(await shop.entries()).toEqual([]);
  expect((await shop.list()).payments).toMatchObject([{ status: "refunded" }]);
});

test("a state of the processor that is older than the stored one changes nothing", async () => {
  const shop = await start();
  const checkout = razorpay.pay((await shop.order(20)).order_id);
  await shop.verify(checkout);
  const { processor_payment_id: id } = checkout;
  razorpay.change(id, { amount_refunded: 500 });
  await app.advanceTime(200 * minute);
  razorpay.change(id, { status: "authorized", captured: false, amount_refunded: 0 });
  await app.advanceTime(2_000 * minute);
  expect((await shop.list()).payments).toMatchObject([{ status: "captured", amount_refunded: 5 }]);
  expect(await shop.entries()).toEqual(["top_up 20", "refund 5"]);
});

describe("signatures of checkout", () => {
  const client = createRazorpay({ ...razorpayKeys, baseUrl: "http://127.0.0.1:1" });

  test.each(vectors.checkout_order)(
    "$signature",
    ({ order_id, payment_id, key_secret, signature, valid }) => {
      const own = createRazorpay({ ...razorpayKeys, keySecret: key_secret, baseUrl: "http://127.0.0.1:1" });
      expect(own.isSignedByCheckout({ order_id, payment_id, signature })).toBe(valid);
    },
  );

  test.each([...vectors.subscription, ...vectors.payment_link])("of $message", (vector) => {
    expect(sign(vector.key_secret, vector.message)).toBe(vector.signature);
  });

  test.each([...vectors.subscription, ...vectors.payment_link])(
    "of $message are not those of an order",
    (vector) => {
      const [order_id = "", payment_id = ""] = vector.message.split("|");
      const swapped = { order_id: payment_id, payment_id: order_id };
      // The message of a subscription is payment|subscription: the order of the ids decides.
      expect(client.isSignedByCheckout({ ...swapped, signature: vector.signature })).toBe(false);
    },
  );
});

describe("the settings", () => {
  const env = { TIDINGS_RAZORPAY_KEY_ID: "rzp_live_x1234567890" };

  test("are complete or missing", () => {
    expect(() => readConfig(env)).toThrow(
      "TIDINGS_RAZORPAY_KEY_SECRET takes a value when another one of TIDINGS_RAZORPAY_KEY_ID, TIDINGS_RAZORPAY_KEY_SECRET, TIDINGS_RAZORPAY_WEBHOOK_SECRET is set.",
    );
    expect(readConfig({}).config.razorpay).toBeUndefined();
  });

  test("that the processor rejects are named in the log, without the secret", async () => {
    const client = createRazorpay({ ...razorpayKeys, keySecret: "wrong", baseUrl: razorpay.baseUrl });
    const key = { organization_id: "org_1", payment_id: "pay_1" };
    await expect(client.findPayment(key, AbortSignal.timeout(5_000))).rejects.toThrow(
      "The payment processor rejected the key: check TIDINGS_RAZORPAY_KEY_ID and TIDINGS_RAZORPAY_KEY_SECRET.",
    );
  });
});

test("no person's data and no secret is stored or logged", async () => {
  const shop = await start();
  await shop.verify(razorpay.pay((await shop.order(20)).order_id));
  const { queries } = app.server.database;
  const rows = await Promise.all(
    (["payments", "payment_orders", "jobs", "outward_calls"] as const).map((table) =>
      queries.selectFrom(table).selectAll().execute(),
    ),
  );
  const text = JSON.stringify([rows, log], (_, value) => (value instanceof Error ? `${value.stack}` : value));
  expect(text).not.toMatch(/payer@example|9876543210|EnLs21M47|Basic /);
});
