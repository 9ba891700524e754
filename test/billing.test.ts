/** Billing: the subscription to a plan, and the chatbot add-on. */
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import { billing, operatorBilling } from "../tools/billing.ts";
import { organization as organizations } from "../tools/organization.ts";
import { operatorWallet } from "../tools/wallet.ts";
import { startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { createAddonTenant } from "./support/chatbot-addon.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { asOperator, createOrganizationFor } from "./support/operator.ts";
import { createPaymentHelpers } from "./support/payments.ts";
import { createWorldProbe } from "./support/world.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe("a subscription", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startTestApp({ startsAt: new Date("2027-01-31T10:00:00.000Z") });
  });
  afterEach(() => app[Symbol.asyncDispose]());
  const read = async (key?: string) =>
    (await app.call(billing.get_subscription, {}, key === undefined ? {} : { key })).data;
  const stored = async () => {
    const { rows } = await sql<{ current_period_end: string }>`
      select current_period_end from subscriptions order by organization_id limit 1
    `.execute(app.server.database.queries);
    return rows[0]?.current_period_end;
  };

  test("begins with each organization, and its periods follow the calendar", async () => {
    expect(await read()).toEqual({
      id: expect.stringMatching(/^sub_/),
      plan_type: "growth",
      status: "active",
      billing_cycle: "monthly",
      current_period_start: "2027-01-31T10:00:00.000Z",
      current_period_end: "2027-02-28T10:00:00.000Z",
      cancel_at_period_end: false,
      is_trialing: false,
      days_until_expiry: 28,
    });
    await app.advanceTime(27 * dayMs + 1);
    expect((await read()).days_until_expiry).toBe(1);
    await app.advanceTime(dayMs);
    expect(await read()).toMatchObject({
      current_period_start: "2027-02-28T10:00:00.000Z",
      // Not the 28th: the periods are counted from the 31st.
      current_period_end: "2027-03-31T10:00:00.000Z",
    });
    expect(await stored()).toBe("2027-03-31T10:00:00.000Z");
  });

  test("rolls on over several periods at once, and shows the present one before the job has run", async () => {
    await app.advanceTime(181 * dayMs);
    // As a service leaves it that was stopped for months.
    await sql`
      update subscriptions set period = 0, current_period_end = '2027-02-28T10:00:00Z'
    `.execute(app.server.database.queries);
    const present = {
      current_period_start: "2027-07-31T10:00:00.000Z",
      current_period_end: "2027-08-31T10:00:00.000Z",
    };
    expect(await read()).toMatchObject(present);
    await app.advanceTime(600_000);
    expect(await stored()).toBe(present.current_period_end);
    expect(await read()).toMatchObject(present);
  });

  test("of an organization that the operator creates is its own, and changed by the operator alone", async () => {
    const shop = await createOrganizationFor(app, "Shop");
    const own = await read(shop.key);
    expect(own.id).not.toBe((await read()).id);
    const change = { id: shop.id, plan_type: "scale", billing_cycle: "annual" } as const;
    const { data } = await app.call(operatorBilling.update_subscription, change, asOperator);
    expect(data).toMatchObject({ plan_type: "scale", billing_cycle: "annual", days_until_expiry: 365 });
    expect(await read(shop.key)).toEqual(data);
    expect((await app.call(operatorBilling.find_subscription, { id: shop.id }, asOperator)).data).toEqual(
      data,
    );
    expect((await read()).plan_type).toBe("growth");
    const denied = await expectFailure(app.call(operatorBilling.update_subscription, change));
    expect(denied.code).toBe("operator_key_required");
    const unknown = app.call(operatorBilling.update_subscription, { ...change, id: "org_x" }, asOperator);
    expect((await expectFailure(unknown)).code).toBe("organization_not_found");
  });

  test("ends with its period when it is to be cancelled, and begins a new one when it is resumed", async () => {
    const shop = await createOrganizationFor(app, "Leaving");
    const { id } = shop;
    const update = async (change: object) =>
      (await app.call(operatorBilling.update_subscription, { id, ...change }, asOperator)).data;
    expect(await update({ status: "trialing" })).toMatchObject({ is_trialing: true });
    await app.advanceTime(31 * dayMs);
    expect(await read(shop.key)).toMatchObject({ status: "active", is_trialing: false });
    await update({ cancel_at_period_end: true });
    await app.advanceTime(31 * dayMs);
    const cancelled = await read(shop.key);
    expect(cancelled).toMatchObject({ status: "cancelled", days_until_expiry: 0 });
    await app.advanceTime(31 * dayMs);
    expect(await read(shop.key)).toEqual(cancelled);
    const resumed = await update({ status: "active" });
    expect(resumed).toMatchObject({
      status: "active",
      current_period_start: app.now().toISOString(),
      cancel_at_period_end: false,
    });
    await app.advanceTime(31 * dayMs);
    expect(await read(shop.key)).toMatchObject({ status: "active" });
  });
});

const { probe, readWorld } = createWorldProbe();
const enabledModules = { ...modules, probe };

describe("the chatbot add-on, with TIDINGS_WALLET=block", () => {
  // No month of the tests' time ends on another day.
  const startsAt = new Date("2027-03-10T10:00:00.000Z");
  const app = useTestApp({ enabledModules, env: { TIDINGS_WALLET: "block" }, startsAt });
  const createTenant = () => createAddonTenant(app, readWorld);

  test("exists once; a later one has no trial and needs its fee", async () => {
    const { subscribe, cancel, read, add, readWallet } = await createTenant();
    expect(await expectFailure(read())).toMatchObject({ status: 404, code: "addon_not_found" });
    const first = await subscribe(0.01, 2);
    const inAMonth = app.now();
    inAMonth.setUTCMonth(inAMonth.getUTCMonth() + 1);
    expect(first).toEqual({
      id: expect.stringMatching(/^addon_/),
      addon_type: "chatbot",
      status: "trialing",
      billing_unit: "per_message",
      cost_per_unit: 0.01,
      monthly_fee: 2,
      trial_units_remaining: 100,
      grace_period_days: 7,
      next_billing_date: inAMonth.toISOString(),
      activated_at: app.now().toISOString(),
    });
    expect(await expectFailure(subscribe(0.02))).toMatchObject({
      status: 409,
      code: "addon_exists",
      error: { existing_id: first.id },
    });
    expect(await cancel()).toEqual({ id: first.id, addon_type: "chatbot", status: "cancelled" });
    expect((await read()).ends_at).toBe(first.next_billing_date);
    expect(await expectFailure(cancel())).toMatchObject({ status: 404, code: "addon_not_found" });
    const unpaid = await expectFailure(subscribe(0.02, 5));
    expect(unpaid).toMatchObject({ status: 402, code: "insufficient_funds", error: { required: 5 } });
    await add(5);
    expect(await subscribe(0.02, 5)).toMatchObject({ status: "active", trial_units_remaining: 0 });
    expect((await readWallet()).available).toBe(0);
  });

  test("gives no free answers if it is cancelled while it is suspended", async () => {
    const { subscribe, cancel, answers, leaveTrialUnits, read, add, readWallet } = await createTenant();
    await subscribe(1);
    await leaveTrialUnits(1);
    await answers(3);
    await app.advanceTime(8 * dayMs);
    const { status, next_billing_date } = await read();
    expect(status).toBe("suspended");
    await cancel();
    expect(await read()).toMatchObject({ status: "cancelled", ends_at: next_billing_date });
    await expect(answers(1)).rejects.toMatchObject({ code: "insufficient_funds" });
    await add(5);
    expect(await answers(2)).toBe(2);
    expect((await readWallet()).available).toBe(1);
  });

  test("without a fee needs a wallet that is not below zero, unless it has the trial", async () => {
    const { subscribe, cancel, answers, leaveTrialUnits, add, readWallet } = await createTenant();
    await subscribe(1);
    await leaveTrialUnits(1);
    await answers(3);
    expect((await readWallet()).available).toBe(-2);
    await cancel();
    const unpaid = await expectFailure(subscribe(1));
    expect(unpaid).toMatchObject({ status: 402, code: "insufficient_funds", error: { required: 0 } });
    await add(2);
    expect((await subscribe(1)).status).toBe("active");
    const { add: addToOther, subscribe: subscribeOther } = await createTenant();
    await addToOther(-1);
    expect((await subscribeOther(1)).status).toBe("trialing");
  });

  test("is subscribed to once by many requests at once", async () => {
    const { subscribe } = await createTenant();
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => subscribe(1)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("costs at least what the operator has set for the currency of the organization", async () => {
    const { subscribe, key } = await createTenant();
    const set = (input: { currency: string; per_message?: number; per_session?: number }) =>
      app.call(operatorBilling.replace_minimum_prices, input, asOperator);
    await set({ currency: "EUR", per_message: 5 });
    await set({ currency: "USD", per_message: 0.02, per_session: 0.3 });
    expect((await app.call(operatorBilling.list_minimum_prices, {}, asOperator)).data).toEqual([
      { currency: "EUR", per_message: 5, per_session: 0 },
      { currency: "USD", per_message: 0.02, per_session: 0.3 },
    ]);
    const minimum = { status: 422, code: "price_below_minimum" };
    expect(await expectFailure(subscribe(0.019))).toMatchObject({ ...minimum, error: { minimum: 0.02 } });
    const session = await expectFailure(subscribe(0.299, 0, "per_session"));
    expect(session).toMatchObject({ ...minimum, error: { minimum: 0.3, param: "cost_per_unit" } });
    expect((await subscribe(0.02)).cost_per_unit).toBe(0.02);
    await set({ currency: "USD" });
    // Its prices are in this currency.
    const change = app.call(organizations.update_organization, { currency: "EUR" }, { key });
    expect(await expectFailure(change)).toMatchObject({ status: 409, code: "currency_fixed" });
  });

  test("counts each answer once, and the units of the trial exactly, also many at once", {}, async () => {
    const { subscribe, answer, answers, read, add, readWallet, listEntries } = await createTenant();
    await add(1);
    await subscribe(0.01);
    const same = await Promise.all(Array.from({ length: 8 }, () => answer({ answer_id: "ans_same" })));
    expect(same.filter(Boolean)).toHaveLength(1);
    expect((await read()).trial_units_remaining).toBe(99);
    expect(await answers(106)).toBe(106);
    expect(await read()).toMatchObject({ trial_units_remaining: 0, status: "active" });
    expect((await readWallet()).available).toBe(0.93);
    expect(await answer({ answer_id: "ans_same" })).toBe(false);
    const entries = await listEntries("usage");
    expect(entries).toHaveLength(7);
    expect(entries[0]).toMatchObject({
      amount: 0.01,
      from_account: "wallet",
      to_account: "spent",
      message_id: null,
    });
  });

  test("counts a session once in 24 hours from its first answer, for each conversation", async () => {
    const { subscribe, answer, read } = await createTenant();
    await subscribe(0.5, 0, "per_session");
    const counted: boolean[] = [];
    const at = async (hours: number, conversation_id: string) => {
      await app.advanceTime(hours * hourMs);
      counted.push(await answer({ conversation_id }));
    };
    await at(0, "conv_a");
    await at(12, "conv_a");
    await at(0, "conv_b");
    await at(11, "conv_a");
    await at(1, "conv_a");
    await at(0, "conv_b");
    expect(counted).toEqual([true, false, true, false, true, false]);
    expect((await read()).trial_units_remaining).toBe(97);
  });

  test("of one organization is not another's", async () => {
    const [one, other] = [await createTenant(), await createTenant()];
    await other.subscribe(1);
    expect(await expectFailure(one.read())).toMatchObject({ code: "addon_not_found" });
    expect(await one.answers(3)).toBe(0);
    await one.subscribe(1);
    expect(await one.answers(3)).toBe(3);
    expect((await other.read()).trial_units_remaining).toBe(100);
  });

  test("is active again with the money that pays what it owes, and never with simulated money", async () => {
    const { key, subscribe, answers, leaveTrialUnits, read, add, readWallet } = await createTenant();
    const { order, pay, verify } = createPaymentHelpers(app, { key });
    await subscribe(1);
    await leaveTrialUnits(1);
    await answers(4);
    expect((await read()).status).toBe("grace");
    const { order_id } = await order(3);
    await verify(await pay(order_id));
    expect(await readWallet()).toMatchObject({
      available: -3,
      spent: 3,
      simulated: { available: 3, spent: 0 },
    });
    expect((await read()).status).toBe("grace");
    await add(3);
    expect((await read()).status).toBe("active");
  });
});

test("with a credit limit the add-on is active again at once when the wallet is credited, within a minute when the limit rises", async () => {
  await using app = await startTestApp({ enabledModules, env: { TIDINGS_WALLET: "credit_limit" } });
  const { id, subscribe, answers, leaveTrialUnits, read, add } = await createAddonTenant(app, readWorld);
  await subscribe(0.1);
  await leaveTrialUnits(1);
  await answers(2);
  expect((await read()).status).toBe("grace");
  await add(0.1);
  expect((await read()).status).toBe("active");
  await answers(1);
  expect((await read()).status).toBe("grace");
  await app.call(operatorWallet.update_credit_limit, { id, credit_limit: 1 }, asOperator);
  await app.advanceTime(60_000);
  expect((await read()).status).toBe("active");
  // Taking money out brings nothing back.
  await answers(10);
  expect((await read()).status).toBe("grace");
  await add(-1);
  expect((await read()).status).toBe("grace");
});

test("with TIDINGS_WALLET=off the wallet pays everything, below zero too", async () => {
  await using app = await startTestApp({ enabledModules });
  const tenant = await createAddonTenant(app, readWorld);
  const { subscribe, answers, leaveTrialUnits, read, cancel, readWallet } = tenant;
  await subscribe(0.5, 7);
  await leaveTrialUnits(1);
  await answers(11);
  await app.advanceTime(32 * dayMs);
  expect((await read()).status).toBe("active");
  expect((await readWallet()).available).toBe(-12);
  await cancel();
  expect((await subscribe(0.5, 7)).status).toBe("active");
  expect((await readWallet()).available).toBe(-19);
});
