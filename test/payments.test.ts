/** Payments through the simulated processor: orders, verification, refunds, and what is never credited. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import { organization } from "../tools/organization.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { type Checkout, createShop } from "./support/payments.ts";
import { createWorldProbe } from "./support/world.ts";

const [minute, day] = [60_000, 24 * 3_600_000];
const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });

/** An organization of its own for each test. */
const start = (currency?: string) => createShop(app, currency);

async function startPaid(amount = 500) {
  const shop = await start();
  const { order_id } = await shop.order(amount);
  const checkout = await shop.pay(order_id);
  await shop.verify(checkout);
  return { ...shop, order_id, checkout };
}

const fail = (call: Promise<unknown>) => expectFailure(call).then(({ status, code }) => ({ status, code }));

test("an order that was paid is credited, and the payment is listed", async () => {
  const shop = await start();
  const order = await shop.order(10.25);
  expect(order).toEqual({
    order_id: expect.stringMatching(/^order_/),
    amount: 10.25,
    currency: "USD",
    processor_key_id: "simulated_key",
    simulated: true,
  });
  expect((await shop.list()).payments).toEqual([]);
  const checkout = await shop.pay(order.order_id);
  expect(await shop.verify(checkout)).toEqual({
    status: "captured",
    amount: 10.25,
    currency: "USD",
    new_balance: 10.25,
    simulated: true,
    message: "10.25 USD of simulated money was credited: only simulated inboxes spend it.",
  });
  const { processor_order_id, processor_payment_id } = checkout;
  expect(await shop.list()).toEqual({
    payments: [
      {
        id: expect.stringMatching(/^pmt_/),
        processor_order_id,
        processor_payment_id,
        amount: 10.25,
        currency: "USD",
        status: "captured",
        amount_refunded: 0,
        created_at: app.now().toISOString(),
      },
    ],
    pagination: { page: 1, limit: 20, total: 1, total_pages: 1 },
  });
  expect(await shop.entries()).toEqual(["top_up 10.25"]);
});

test("a repeated verification answers the same and credits nothing", async () => {
  const { checkout, verify, balance, entries } = await startPaid(20);
  const again = await verify(checkout);
  expect(again).toMatchObject({ status: "captured", amount: 20, new_balance: 20 });
  expect(await balance()).toBe(20);
  expect(await entries()).toEqual(["top_up 20"]);
});

test("the response is stored under the idempotency key, and so is the order", async () => {
  const { key } = await start();
  const create = (amount: number) =>
    app.fetch("/v1/billing/payments/orders", {
      key,
      method: "POST",
      json: { amount },
      headers: { "idempotency-key": "order-1" },
    });
  const [first, again] = [await create(5), await create(5)];
  expect(await again.json()).toEqual(await first.json());
  expect({ status: again.status, replayed: again.headers.get("idempotency-replayed") }).toEqual({
    status: 201,
    replayed: "true",
  });
  expect((await create(6)).status).toBe(422);
});

test("the list has pages, newest first", async () => {
  const shop = await start();
  const ids: string[] = [];
  for (const amount of [1, 2, 3]) {
    const checkout = await shop.pay((await shop.order(amount)).order_id);
    await shop.verify(checkout);
    ids.unshift(checkout.processor_payment_id);
    await app.advanceTime(1_000);
  }
  const pages = [await shop.list({ limit: 2 }), await shop.list({ page: 2, limit: 2 })];
  expect(pages.flatMap((page) => page.payments.map((payment) => payment.processor_payment_id))).toEqual(ids);
  expect(pages[1]?.pagination).toEqual({ page: 2, limit: 2, total: 3, total_pages: 2 });
  expect((await shop.list({ limit: 1000 })).pagination.limit).toBe(100);
});

describe("an amount", () => {
  test.each([
    ["USD", 10.001, "Amounts in USD have at most 2 decimals."],
    ["USD", 0.1 + 0.2, "Amounts in USD have at most 2 decimals."],
    ["USD", 1e-7, "Amounts in USD have at most 2 decimals."],
    ["JPY", 10.5, "Amounts in JPY have no decimals."],
    [
      "KWD",
      1.001,
      "Amounts in KWD have three decimals, of which the payment processor requires the last to be 0.",
    ],
  ])("in %s of %d is rejected", async (currency, amount, message) => {
    const { order } = await start(currency);
    const failure = await expectFailure(order(amount));
    expect(failure).toMatchObject({ status: 400, code: "amount_decimals", message });
  });

  test.each([
    ["USD", 0.01],
    ["USD", 4.35],
    ["JPY", 500],
    ["KWD", 1.23],
    ["INR", 1_000_000_000],
  ])("in %s of %d is credited exactly", async (currency, amount) => {
    const shop = await start(currency);
    const order = await shop.order(amount);
    expect(order).toMatchObject({ amount, currency });
    const verified = await shop.verify(await shop.pay(order.order_id));
    expect(verified).toMatchObject({ amount, currency, new_balance: amount });
    expect(await shop.entries()).toEqual([`top_up ${amount}`]);
  });

  test.each([0, -1, 1_000_000_001])("of %d is rejected", async (amount) => {
    const { order } = await start();
    expect(await fail(order(amount))).toEqual({ status: 400, code: "invalid_request" });
  });

  test("in a currency that the processor does not take is rejected", async () => {
    const { order } = await start("CUC");
    expect(await fail(order(10))).toEqual({ status: 422, code: "currency_not_payable" });
  });
});

describe("a verification is rejected", () => {
  test("with a signature of other values, and nothing is stored", async () => {
    const shop = await start();
    const [one, other] = [await shop.order(10), await shop.order(1_000)];
    const [checkout, dear] = [await shop.pay(one.order_id), await shop.pay(other.order_id)];
    const { processor_signature } = checkout;
    const wrong: Checkout[] = [
      { ...checkout, processor_signature: "sddsfdsfs" },
      { ...checkout, processor_signature: processor_signature.toUpperCase() },
      { ...checkout, processor_signature: `${processor_signature.slice(0, -1)}x` },
      { ...checkout, processor_payment_id: dear.processor_payment_id },
      { ...checkout, processor_order_id: dear.processor_order_id },
      { ...dear, processor_payment_id: checkout.processor_payment_id },
    ];
    for (const each of wrong) {
      expect(await fail(shop.verify(each))).toEqual({ status: 400, code: "invalid_signature" });
    }
    expect(await shop.balance()).toBe(0);
    expect((await shop.list()).payments).toEqual([]);
  });

  test("for another organization's order, which stays unpaid", async () => {
    const [shop, thief] = [await start(), await start()];
    const checkout = await shop.pay((await shop.order()).order_id);
    expect(await fail(thief.verify(checkout))).toEqual({ status: 404, code: "payment_order_not_found" });
    expect([await shop.balance(), await thief.balance()]).toEqual([0, 0]);
    await shop.verify(checkout);
    expect([await shop.balance(), await thief.balance()]).toEqual([500, 0]);
    expect(await fail(thief.verify(checkout))).toEqual({ status: 404, code: "payment_order_not_found" });
    expect((await thief.list()).payments).toEqual([]);
  });

  test("for an unknown order", async () => {
    const { verify } = await start();
    const checkout = {
      processor_order_id: "order_x",
      processor_payment_id: "pay_x",
      processor_signature: "x",
    };
    expect(await fail(verify(checkout))).toEqual({ status: 404, code: "payment_order_not_found" });
  });

  test("for a payment that failed; the order can be paid again", async () => {
    const shop = await start();
    const { order_id } = await shop.order();
    const failed = await shop.pay(order_id, { outcome: "failed" });
    const failure = await expectFailure(shop.verify(failed));
    expect(failure).toMatchObject({ status: 422, code: "payment_not_captured" });
    expect(failure.message).toContain("is failed at the payment processor");
    expect((await shop.list()).payments).toMatchObject([{ status: "failed" }]);
    await shop.verify(await shop.pay(order_id));
    expect(await shop.balance()).toBe(500);
  });
});

test("an authorized payment is captured by us, then credited", async () => {
  const shop = await start();
  const checkout = await shop.pay((await shop.order()).order_id, { outcome: "authorized" });
  expect(await shop.verify(checkout)).toMatchObject({ status: "captured", new_balance: 500 });
});

test("a payment that was authorized after it had failed is credited", async () => {
  const shop = await start();
  const { order_id } = await shop.order();
  const { processor_payment_id: payment_id, ...checkout } = await shop.pay(order_id, { outcome: "failed" });
  await fail(shop.verify({ ...checkout, processor_payment_id: payment_id }));
  await shop.pay(order_id, { outcome: "authorized", payment_id });
  await app.advanceTime(10 * minute);
  expect((await shop.list()).payments).toMatchObject([{ status: "captured" }]);
  expect(await shop.balance()).toBe(500);
});

describe("a second payment of a paid order", () => {
  test("is not credited and is returned to the payer, once", async () => {
    const { id, order_id, pay, verify, balance, list } = await startPaid();
    const second = await pay(order_id);
    const failure = await expectFailure(verify(second));
    expect(failure).toMatchObject({ status: 409, code: "order_already_paid" });
    await app.runDueJobs();
    expect(await fail(verify(second))).toEqual({ status: 409, code: "order_already_paid" });
    await app.advanceTime(10 * day);
    expect(await balance()).toBe(500);
    expect((await list()).payments).toMatchObject([
      { processor_payment_id: second.processor_payment_id, status: "refunded", amount_refunded: 500 },
      { status: "captured", amount_refunded: 0 },
    ]);
    const { rows } = await sql<{ refunded: number }>`
      select amount_refunded as refunded from simulator_payments where organization_id = ${id} order by id
    `.execute(app.server.database.queries);
    expect(rows.map(({ refunded }) => refunded)).toEqual([0, 50_000]);
  });

  test("waits while another processor is in use, and is then returned", async () => {
    const { order_id, pay, verify, list } = await startPaid();
    const world = await readWorld(app);
    const { payments } = world;
    const second = await pay(order_id);
    await expectFailure(verify(second));
    Object.assign(world, { payments: { ...payments, name: "another" } });
    await app.runDueJobs();
    Object.assign(world, { payments });
    expect((await list()).payments[0]).toMatchObject({ status: "captured" });
    await app.advanceTime(10 * minute);
    expect((await list()).payments[0]).toMatchObject({ status: "refunded", amount_refunded: 500 });
  });

  test("is not captured if it is only authorized", async () => {
    const { order_id, pay, verify, list } = await startPaid();
    const second = await pay(order_id, { outcome: "authorized" });
    expect(await fail(verify(second))).toEqual({ status: 409, code: "order_already_paid" });
    expect((await list()).payments[0]).toMatchObject({ status: "authorized" });
  });
});

test("the controls of the simulated processor refuse what it can't do", async () => {
  const [shop, other] = [await start(), await start()];
  const { order_id } = await shop.order();
  const post = (key: string, path: string, json: object) => app.fetch(path, { key, method: "POST", json });
  const path = `/simulator/payments/${order_id}`;
  const rejected = [
    await post(other.key, `${path}/pay`, {}),
    await post(shop.key, "/simulator/payments/order_x/pay", {}),
    await post(shop.key, `${path}/pay`, { outcome: "paid" }),
    await post(shop.key, `${path}/pay`, { payment_id: "pay_x" }),
    await post(shop.key, `${path}/refund`, {}),
  ];
  expect(rejected.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
  const failed = await shop.pay((await shop.order()).order_id, { outcome: "failed" });
  const { processor_order_id, processor_payment_id: payment_id } = failed;
  const elsewhere = await post(shop.key, `${path}/pay`, { payment_id });
  const own = `/simulator/payments/${processor_order_id}/pay`;
  const again = await post(shop.key, own, { payment_id, outcome: "failed" });
  expect([elsewhere.status, again.status]).toEqual([400, 400]);
  await shop.pay(order_id);
  expect((await post(shop.key, `${path}/refund`, { amount_minor: 50_001 })).status).toBe(400);
  expect((await app.fetch(`${path}/pay`, { key: null, method: "POST", json: {} })).status).toBe(401);
});

test("the currency can't change once there is an order", async () => {
  const { key, order } = await start();
  await order();
  const change = app.call(organization.update_organization, { currency: "EUR" }, { key });
  expect(await fail(change)).toEqual({ status: 409, code: "currency_fixed" });
});
