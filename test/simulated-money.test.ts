/**
 * Simulated money: an account of its own, which simulated payments credit and simulated inboxes alone spend.
 */
import { sql } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { World } from "../src/platform/foundation/kernel/index.ts";
import { modules } from "../src/platform/index.ts";
import { findDifferences } from "../src/platform/money/wallet/audit.ts";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { ledger } from "../tools/ledger.ts";
import { messages } from "../tools/messages/index.ts";
import { organization } from "../tools/organization.ts";
import { operatorWallet, wallet } from "../tools/wallet.ts";
import { webhooks } from "../tools/webhooks.ts";
import type { TestApp } from "./support/app.ts";
import { createBroadcastHelpers, phoneNumbers } from "./support/broadcasts.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { asOperator } from "./support/operator.ts";
import { createPaymentHelpers } from "./support/payments.ts";
import { createWalletHelpers, price, setPrices } from "./support/wallet.ts";
import { deliver, type Inbox, messagesChange, openWindow, useWhatsApp } from "./support/whatsapp.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
let app: TestApp;
let real: Inbox;
let world: World;
let organization_id: string;
let simulatedInbox: string;

useWhatsApp(
  (started) => {
    ({ app, inbox: real } = started);
  },
  { enabledModules: { ...modules, probe }, env: { TIDINGS_WALLET: "block" } },
);

beforeAll(async () => {
  world = await readWorld(app);
  organization_id = await createWalletHelpers(app).organization();
  await setPrices(app);
  const { data } = await app.call(inboxes.list_inboxes, {});
  simulatedInbox = data.find(({ id }) => id !== real.id)?.id ?? "";
  await app.call(inboxes.update_inbox, { id: simulatedInbox, settings: { wallet: "enforced" } });
});

const read = async () => (await app.call(wallet.get_wallet, {})).data;

async function adjust(amount: number, more: object = {}) {
  const input = { id: organization_id, amount: Number(amount.toFixed(6)), reason: "Test", ...more };
  return (await app.call(operatorWallet.adjust_wallet, input, asOperator)).data;
}

/** Tops up through the simulated processor. */
async function pay(amount: number) {
  const { order, pay: payOrder, verify } = createPaymentHelpers(app);
  const { order_id } = await order(amount);
  return { order_id, verified: await verify(await payOrder(order_id)) };
}

const sendTo = async (to: string, inbox_id?: string) =>
  (await app.call(messages.send_message, { to, type: "text", text: { body: "hello" }, inbox_id })).data;
const sendReal = () => sendTo("+14155550123", real.id);
const sendSimulated = () => sendTo("+14155550180");

/** Delivers the queued messages to the channel, which then reports this of one of them. */
async function report(id: string, status: "delivered" | "failed") {
  await app.runDueJobs();
  const found = await sql<{ channel_message_id: string }>`
    select channel_message_id from messages where id = ${id}
  `.execute(world.database.queries);
  const channel_message_id = found.rows[0]?.channel_message_id ?? "";
  const timestamp = String(Math.floor(app.now().getTime() / 1000));
  const errors = status === "failed" ? { errors: [{ code: 131026, title: "Undeliverable" }] } : {};
  const statuses = [{ id: channel_message_id, status, timestamp, recipient_id: "14155550123", ...errors }];
  await deliver(app, real, messagesChange({ statuses }));
}

/** Nothing is available, of neither money. */
beforeEach(async () => {
  await app.advanceTime(5_000);
  const { available, simulated } = await read();
  for (const [amount, isSimulated] of [
    [available, false],
    [simulated.available, true],
  ] as const) {
    if (amount !== 0) {
      await adjust(-amount, { simulated: isSimulated });
    }
  }
});

test("simulated money does not pay for the messages of a real channel", async () => {
  const { verified } = await pay(100);
  expect(verified).toMatchObject({ new_balance: 100, simulated: true });
  expect(await read()).toMatchObject({
    balance: 0,
    available: 0,
    simulated: { balance: 100, available: 100 },
  });
  await openWindow(app, real);
  expect(await expectFailure(sendReal())).toMatchObject({
    status: 402,
    code: "insufficient_funds",
    error: { required: price, available: 0, mode: "block", simulated: false },
  });
});

test("a real message is held, charged and released in real money alone", async () => {
  await pay(1);
  await adjust(2 * price);
  const before = await read();
  await openWindow(app, real);
  const [delivered, failed] = [await sendReal(), await sendReal()];
  expect(await read()).toMatchObject({ held: 2 * price, available: 0, simulated: before.simulated });
  await report(delivered.id, "delivered");
  await report(failed.id, "failed");
  expect(await read()).toMatchObject({
    held: 0,
    available: price,
    spent: Number((before.spent + price).toFixed(6)),
    simulated: before.simulated,
  });
});

test("a simulated message is held and charged in simulated money alone", async () => {
  await adjust(1);
  expect(await expectFailure(sendSimulated())).toMatchObject({
    status: 402,
    error: { required: price, available: 0, simulated: true },
  });
  await pay(1);
  const { simulated, ...before } = await read();
  await sendSimulated();
  expect(await read()).toMatchObject({ ...before, simulated: { held: price, balance: 1 } });
  await app.advanceTime(1_000);
  const spent = Number((simulated.spent + price).toFixed(6));
  expect(await read()).toMatchObject({ ...before, simulated: { held: 0, balance: 1 - price, spent } });
  const { data } = await app.call(ledger.list_ledger_entries, { per_page: 2 });
  expect(data.map(({ type, simulated }) => [type, simulated])).toEqual([
    ["charge", true],
    ["hold", true],
  ]);
});

describe("a broadcast of a simulated inbox", () => {
  const recipients = 4;
  let input: { name: string; cohort_id: string; template_id: string };
  let helpers: ReturnType<typeof createBroadcastHelpers>;

  beforeAll(async () => {
    helpers = createBroadcastHelpers(app);
    const { cohort } = await helpers.createCohort(phoneNumbers(recipients, 473));
    const template = await helpers.approve({ name: "offer", inbox_id: simulatedInbox });
    input = { name: "Offer", cohort_id: cohort.id, template_id: template.id };
  });

  test("is estimated, held, charged and released in simulated money alone", async () => {
    await adjust(1);
    await adjust(recipients * price, { simulated: true });
    const { simulated, ...before } = await read();
    const { id } = await helpers.create(input);
    const { data: estimate } = await app.call(broadcasts.estimate_broadcast, { id });
    const after = { available: recipients * price, available_after: 0, is_affordable: true };
    expect(estimate).toMatchObject({ ...after, mode: "block", simulated: true });
    await helpers.execute(id);
    expect(await read()).toMatchObject({ ...before, simulated: { held: recipients * price, available: 0 } });
    await helpers.deliver();
    const spent = Number((simulated.spent + recipients * price).toFixed(6));
    expect(await read()).toMatchObject({ ...before, simulated: { held: 0, available: 0, spent } });

    const again = await helpers.create(input);
    expect((await expectFailure(helpers.execute(again.id))).error).toMatchObject({ simulated: true });
    await adjust(recipients * price, { simulated: true });
    await helpers.execute(again.id);
    await app.call(broadcasts.cancel_broadcast, { id: again.id });
    const released = { held: 0, available: recipients * price };
    expect(await read()).toMatchObject({ ...before, simulated: released });
  });

  test("that the previous version hands to the delivery stays in simulated money", async () => {
    await adjust(recipients * price, { simulated: true });
    const { simulated: _, ...before } = await read();
    const { id } = await helpers.create(input);
    await helpers.execute(id);
    await app.runDueJobs();
    // The previous version writes no such mark.
    const { queries } = world.database;
    const charge = sql`select charge - 'simulated' as charge from messages where broadcast_id = ${id} limit 1`;
    const { rows } = await sql<{ charge: object; marked: boolean }>`
      with original as (select * from messages where broadcast_id = ${id} limit 1)
      insert into messages (organization_id, id, conversation_id, direction, type, content, "from", "to", status, sent_by,
        charge, broadcast_id, created_at)
      select organization_id, 'msg_previous', conversation_id, direction, type, content, "from", "to", 'failed', sent_by,
        (${charge}), broadcast_id, created_at from original
      returning (charge ->> 'simulated')::boolean as marked
    `.execute(queries);
    expect(rows).toEqual([{ marked: true }]);
    await sql`delete from messages where id = 'msg_previous'`.execute(queries);
    await helpers.deliver();
    expect(await read()).toMatchObject({ ...before, simulated: { held: 0, available: 0 } });
  });
});

test("an entry that the previous version writes is of the money of its cause", async () => {
  const { order_id } = await pay(3);
  const { id: simulatedMessage } = await sendSimulated();
  await adjust(1);
  await openWindow(app, real);
  const { id: realMessage } = await sendReal();
  await app.runDueJobs();
  const { queries } = world.database;
  const { rows: paid } = await sql<{ id: string }>`
    select processor_payment_id as id from payments where processor_order_id = ${order_id}
  `.execute(queries);
  const write = async (type: string, reference: string, message_id: string | null) => {
    const { rows } = await sql<{ simulated: boolean }>`
      insert into ledger_entries (organization_id, id, reference, type, from_account, to_account, amount, currency,
        message_id, created_at)
      values (${organization_id}, ${`txn_${reference}`}, ${reference}, ${type}, 'wallet', 'spent', 1, 'USD', ${message_id},
        now())
      returning simulated
    `.execute(queries);
    return rows[0]?.simulated;
  };
  expect(await write("correction", "one", simulatedMessage)).toBe(true);
  expect(await write("correction", "two", realMessage)).toBe(false);
  expect(await write("usage", "three", simulatedMessage)).toBe(false);
  expect(await write("refund", `payment:${paid[0]?.id}:refunded:1`, null)).toBe(true);
  expect(await write("adjustment", "adj_1", null)).toBe(false);
});

test("a refund of a simulated payment takes simulated money", async () => {
  await adjust(5);
  const { order_id } = await pay(2);
  await createPaymentHelpers(app).refund(order_id, { webhook: true });
  await app.runDueJobs();
  expect(await read()).toMatchObject({ available: 5, simulated: { available: 0 } });
});

test("the operator's adjustments are real unless they say otherwise", async () => {
  const { adjustment, wallet: after } = await adjust(2);
  expect(adjustment.simulated).toBe(false);
  expect(after).toMatchObject({ available: 2, simulated: { available: 0 } });
  const { adjustment: other, wallet: last } = await adjust(3, { simulated: true });
  expect(other.simulated).toBe(true);
  expect(last).toMatchObject({ available: 2, simulated: { available: 3 } });
  const { data } = await app.call(operatorWallet.list_adjustments, { id: organization_id }, asOperator);
  expect(data.slice(0, 2).map(({ amount, simulated }) => [amount, simulated])).toEqual([
    [3, true],
    [2, false],
  ]);
});

test("the event of a low balance is sent for the real and for the simulated money", async () => {
  await adjust(20);
  await adjust(20, { simulated: true });
  await app.call(organization.update_organization, { low_balance_threshold: 10 });
  const types = "wallet.low_balance";
  const { cursor } = (await app.call(webhooks.list_events, { types })).meta;
  const seen = async () => {
    await app.advanceTime(61_000);
    const { data: events } = await app.call(webhooks.list_events, { after: cursor, types });
    return events
      .filter(({ type }) => type === "wallet.low_balance")
      .map(({ data }) => [data.simulated, data.available, data.mode]);
  };
  expect(await seen()).toEqual([]);
  await adjust(-15);
  expect(await seen()).toEqual([[false, 5, "block"]]);
  await adjust(-16, { simulated: true });
  expect(await seen()).toEqual([
    [false, 5, "block"],
    [true, 4, "block"],
  ]);
  expect(await read()).toMatchObject({ is_low: true, simulated: { is_low: true } });
  await adjust(15);
  expect(await read()).toMatchObject({ is_low: false, simulated: { is_low: true } });
  await app.call(organization.update_organization, { low_balance_threshold: null });
});

test("both balances are the sums of their entries, and each adds up to zero", async () => {
  const { queries } = world.database;
  expect(await findDifferences(queries, organization_id)).toEqual([]);
  const { rows } = await sql<{ simulated: boolean; sum: number }>`
    select simulated, sum(wallet + held + spent + top_ups + adjustments)::bigint as sum from ledger_balances
    where organization_id = ${organization_id} group by simulated order by simulated
  `.execute(queries);
  expect(rows).toEqual([
    { simulated: false, sum: 0 },
    { simulated: true, sum: 0 },
  ]);
});
