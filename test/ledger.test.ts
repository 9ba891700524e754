/**
 * The ledger as an organization reads it: entries with their causes, what was spent, and
 * the price on a message.
 */
import { sql } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import { recordUnit } from "../src/platform/money/billing/index.ts";
import { billing } from "../tools/billing.ts";
import { ledger } from "../tools/ledger.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { createBroadcastHelpers } from "./support/broadcasts.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createPaymentHelpers } from "./support/payments.ts";
import { setFaults } from "./support/simulator.ts";
import { createWalletHelpers, price, setPrices } from "./support/wallet.ts";
import { createWorldProbe } from "./support/world.ts";

const dayMs = 24 * 3_600_000;
const { probe, readWorld } = createWorldProbe();
const app = useTestApp({
  enabledModules: { ...modules, probe },
  startsAt: new Date("2027-05-10T12:00:00.000Z"),
});
const { send, organization } = createWalletHelpers(app);
const broadcast = createBroadcastHelpers(app);

beforeAll(() => setPrices(app));
beforeEach(() => setFaults(app, {}));

const list = async (filter: object = {}) => (await app.call(ledger.list_ledger_entries, filter)).data;
const spendOf = async (input: object = {}) => (await app.call(ledger.get_spend, input)).data;
const readMessage = async ({ id: message_id, conversation_id }: { id: string; conversation_id: string }) =>
  (await app.call(messages.get_message, { conversation_id, message_id })).data;

/** Counts an answer of the chatbot, as the code that gives it does. */
async function useUnit(answer_id: string, conversation_id: string, isMessage = false): Promise<void> {
  const world = await readWorld(app);
  const place = { organization: await organization(), now: app.now() };
  await world.database.transaction((tx) =>
    recordUnit(tx, world, { ...place, answer_id, conversation_id, isMessage }),
  );
}

async function startAddon(terms: { cost_per_unit: number; monthly_fee: number }): Promise<string> {
  const { data } = await app.call(billing.subscribe_chatbot_addon, { billing_unit: "per_message", ...terms });
  await app.server.database.queries.updateTable("chatbot_addons").set({ trial_units_remaining: 1 }).execute();
  await useUnit(`turn_${data.id}`, "conv_1");
  return data.id;
}

test("a message shows its price, which follows what the channel says", async () => {
  const common = { currency: "USD", category: "service", country: "US", simulated: true };
  const sent = await send("+14155550180");
  expect((await readMessage(sent)).price).toEqual({ ...common, amount: price, status: "held" });
  await app.advanceTime(1_000);
  expect((await readMessage(sent)).price).toEqual({ ...common, amount: price, status: "settled" });

  await setFaults(app, { pricing: { category: "marketing" } });
  const dearer = await send("+14155550180");
  await app.advanceTime(1_000);
  const marketing = { ...common, category: "marketing", amount: 0.025, status: "settled" };
  expect((await readMessage(dearer)).price).toEqual(marketing);

  await setFaults(app, { failures: [{ code: 131026 }] });
  const failed = await send("+14155550180");
  await app.advanceTime(1_000);
  expect((await readMessage(failed)).price).toEqual({ ...common, amount: 0, status: "released" });
});

describe("an entry names", () => {
  test("its message, conversation and broadcast", async () => {
    const { cohort } = await broadcast.createCohort(["+14155550190"]);
    const template = await broadcast.approve({ name: "named", template_data: { body: "We have an offer." } });
    const { id } = await broadcast.create({ name: "Named", cohort_id: cohort.id, template_id: template.id });
    await broadcast.execute(id);
    await broadcast.deliver();
    const [recipient] = await broadcast.recipients(id);
    const { message_id, conversation_id } = recipient ?? {};
    expect((await list()).slice(0, 2)).toMatchObject([
      { type: "charge", message_id, conversation_id, broadcast_id: id, payment_id: null, unit_id: null },
      { type: "hold", message_id: null, conversation_id: null, broadcast_id: id, order_id: null },
    ]);
    const single = await send();
    const entries = await list({ broadcast_id: id });
    expect(entries.map(({ type, message_id }) => [type, message_id])).toEqual([
      ["charge", message_id],
      ["hold", null],
    ]);
    expect(await list({ broadcast_id: id, type: "charge" })).toHaveLength(1);
    expect(await list({ broadcast_id: "bc_unknown" })).toEqual([]);
    expect((await list())[0]).toMatchObject({
      type: "hold",
      message_id: single.id,
      conversation_id: single.conversation_id,
      broadcast_id: null,
    });
    await app.advanceTime(1_000);
  });

  test("its payment and order", async () => {
    const { order, pay, verify, refund, list: listPayments } = createPaymentHelpers(app);
    const { order_id } = await order(5);
    await verify(await pay(order_id));
    await refund(order_id, { amount_minor: 100, webhook: true });
    await app.runDueJobs();
    const [payment] = (await listPayments()).payments;
    const named = { payment_id: payment?.id, order_id, message_id: null, broadcast_id: null };
    expect((await list()).slice(0, 2)).toMatchObject([
      { type: "refund", amount: 1, ...named },
      { type: "top_up", amount: 5, ...named },
    ]);
  });

  test("its add-on or its unit", async () => {
    const addon_id = await startAddon({ cost_per_unit: 0.5, monthly_fee: 3 });
    await useUnit("turn_named", "conv_named");
    const [usage] = await list({ type: "usage" });
    expect(usage).toMatchObject({ unit_id: "turn_named", conversation_id: "conv_named", addon_id: null });
    const { id: message_id, conversation_id } = await send();
    await useUnit(message_id, conversation_id, true);
    const [answer] = await list({ type: "usage" });
    expect(answer).toMatchObject({ unit_id: message_id, message_id, conversation_id });
    await app.advanceTime(31 * dayMs);
    const [fee] = await list({ type: "fee" });
    expect(fee).toMatchObject({ amount: 3, addon_id, unit_id: null, conversation_id: null });
    await app.call(billing.cancel_chatbot_addon, {});
  });
});

describe("the spend", () => {
  test("is summed by day, kind, category and country, for real and simulated money", async () => {
    const [first, second] = ["2027-08-01", "2027-08-02"];
    await app.advanceTime(Date.parse(`${first}T23:00:00Z`) - app.now().getTime());
    await send("+14155550180");
    await send("+14155550180");
    await send("+491735550180");
    await app.advanceTime(1_000);
    await setFaults(app, { failures: [{ code: 131026 }] });
    await send("+14155550181");
    await app.advanceTime(1_000);
    await setFaults(app, {});
    await startAddon({ cost_per_unit: 0.5, monthly_fee: 0 });
    await useUnit("turn_spend", "conv_1");
    await app.call(billing.cancel_chatbot_addon, {});
    await app.advanceTime(2 * 3_600_000);
    const { cohort } = await broadcast.createCohort(["+14155550191"]);
    const template_data = { body: "We have an offer." };
    const template = await broadcast.approve({ name: "spent", category: "marketing", template_data });
    const { id } = await broadcast.create({ name: "Spent", cohort_id: cohort.id, template_id: template.id });
    await broadcast.execute(id);
    await broadcast.deliver();

    const period = { from: first, to: second };
    const simulated = await spendOf({ ...period, simulated: true });
    const message = { day: first, kind: "message", category: "service" };
    expect(simulated).toEqual({
      currency: "USD",
      from: first,
      to: second,
      simulated: true,
      total: 0.037,
      other_total: 0.5,
      spend: [
        { day: second, kind: "broadcast", category: "marketing", country: "US", count: 1, amount: 0.025 },
        { ...message, country: "US", count: 2, amount: 2 * price },
        { ...message, country: "DE", count: 1, amount: price },
      ],
    });
    expect(await spendOf(period)).toMatchObject({
      total: 0.5,
      other_total: 0.037,
      spend: [{ day: first, kind: "usage", category: null, country: null, count: 1, amount: 0.5 }],
    });
    const none = { day: null, kind: null, category: null };
    expect((await spendOf({ ...period, simulated: true, by: "country" })).spend).toEqual([
      { ...none, country: "US", count: 3, amount: 0.033 },
      { ...none, country: "DE", count: 1, amount: price },
    ]);
    expect((await spendOf({ from: second, to: second, simulated: true })).total).toBe(0.025);
  });

  test("counts an answer that is a message twice: as a message and as a unit", async () => {
    const day = "2027-08-20";
    await app.advanceTime(Date.parse(`${day}T12:00:00Z`) - app.now().getTime());
    const { id, conversation_id } = await send("+14155550180");
    await app.advanceTime(1_000);
    // As for a channel that is not simulated.
    await app.server.database.queries
      .updateTable("messages")
      .set({ charge: sql`charge::jsonb || '{"simulated": false}'` })
      .where("id", "=", id)
      .execute();
    await startAddon({ cost_per_unit: 0.5, monthly_fee: 0 });
    await useUnit(id, conversation_id, true);
    await app.call(billing.cancel_chatbot_addon, {});
    const { spend } = await spendOf({ from: day, to: day, by: "day" });
    expect(spend).toMatchObject([{ day, count: 2, amount: 0.504 }]);
  });

  test("of a period before 1970 is nothing", async () => {
    expect(await spendOf({ from: "1969-01-01", to: "1969-01-02" })).toMatchObject({ total: 0, spend: [] });
  });

  test("is of the last 30 days unless a period is sent, of at most 92 days", async () => {
    await app.advanceTime(Date.parse("2027-09-30T12:00:00Z") - app.now().getTime());
    expect(await spendOf()).toMatchObject({ from: "2027-09-01", to: "2027-09-30" });
    expect(await spendOf({ to: "2027-08-30" })).toMatchObject({ from: "2027-08-01", to: "2027-08-30" });
    expect(await spendOf({ from: "2027-07-01" })).toMatchObject({ from: "2027-07-01", to: "2027-09-30" });
    for (const period of [{ from: "2027-06-30" }, { from: "2027-09-30", to: "2027-09-29" }]) {
      expect(await expectFailure(spendOf(period))).toMatchObject({ status: 400, code: "period_invalid" });
    }
    expect(await expectFailure(spendOf({ from: "2027-13-01" }))).toMatchObject({ status: 400 });
  });
});
