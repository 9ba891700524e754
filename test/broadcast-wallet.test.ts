/**
 * What a broadcast costs: held at its execution, settled by its messages, and refused or cut if
 * the wallet can't pay.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { broadcasts } from "../tools/broadcasts/index.ts";
import { inboxes } from "../tools/inboxes.ts";
import { ledger } from "../tools/ledger.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { createBroadcastHelpers, phoneNumbers } from "./support/broadcasts.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { setFaults } from "./support/simulator.ts";
import { createWalletHelpers, price, setPrices } from "./support/wallet.ts";

const app = useTestApp({ env: { TIDINGS_WALLET: "block" } });
const { approve, create, createCohort, deliver, execute, get } = createBroadcastHelpers(app);
const { add, read } = createWalletHelpers(app);

let content: { name: string; cohort_id: string; template_id: string };

beforeAll(async () => {
  await setPrices(app);
  const { cohort } = await createCohort(phoneNumbers(5, 419));
  const template = await approve({ name: "offer", template_data: { body: "We have an offer." } });
  content = { name: "Offer", cohort_id: cohort.id, template_id: template.id };
  const [inbox] = (await app.call(inboxes.list_inboxes, {})).data;
  await app.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings: { wallet: "enforced" } });
});

/** Leaves what so many messages cost. */
async function leave(messages: number): Promise<void> {
  const { available } = await read();
  const amount = Number((messages * price - available).toFixed(6));
  if (amount !== 0) {
    await add(amount);
  }
}

test("an execution that the wallet can't pay is rejected, and nothing is stored of it", async () => {
  await leave(4);
  const { id } = await create(content);
  const estimate = (await app.call(broadcasts.estimate_broadcast, { id })).data;
  expect(estimate).toMatchObject({
    recipient_count: 5,
    currency: "USD",
    cost: 5 * price,
    is_affordable: false,
    costs: [{ country: "US", recipients: 5, cost: 5 * price }],
  });
  expect(await expectFailure(execute(id))).toMatchObject({
    status: 402,
    code: "insufficient_funds",
    error: { required: 5 * price, available: 4 * price },
  });
  expect(await get(id)).toMatchObject({ execution_status: "draft", recipient_count: 0, cost: null });
  expect((await app.call(broadcasts.list_broadcast_recipients, { id })).data).toEqual([]);
});

test("allow_partial sends to as many as the wallet can pay for", async () => {
  await leave(3);
  const { id } = await create(content);
  expect(await execute(id, { allow_partial: true })).toMatchObject({
    recipient_count: 3,
    excluded: { insufficient_funds: 2 },
  });
  expect(await read()).toMatchObject({ available: 0, held: 3 * price });
  const cost = { currency: "USD", simulated: true };
  expect((await get(id)).cost).toEqual({ ...cost, charged: 0, held: 3 * price });
  await deliver();
  expect((await get(id)).cost).toEqual({ ...cost, charged: 3 * price, held: 0 });
  expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { sent: 3 } });
  expect(await read()).toMatchObject({ available: 0, held: 0 });
});

test("allow_partial is rejected if the wallet can not pay for any recipient", async () => {
  await leave(0);
  const { id } = await create(content);
  expect(await expectFailure(execute(id, { allow_partial: true }))).toMatchObject({ status: 402 });
  expect((await get(id)).execution_status).toBe("draft");
});

test("the price of all recipients is held, and released of those who are cancelled", async () => {
  await leave(5);
  const { id } = await create(content);
  await execute(id);
  expect(await read()).toMatchObject({ available: 0, held: 5 * price });
  await app.call(broadcasts.cancel_broadcast, { id });
  expect(await read()).toMatchObject({ available: 5 * price, held: 0 });
  expect((await get(id)).cost).toMatchObject({ charged: 0, held: 0 });
});

test("a failed message releases its part, and a retry holds it again", async () => {
  const countCharges = async () =>
    (await app.call(ledger.list_ledger_entries, { type: "charge" })).data.filter(
      ({ amount }) => amount === price,
    ).length;
  const before = await countCharges();
  await leave(5);
  await setFaults(app, { failures: [{ code: 131016 }] });
  const { id } = await create(content);
  await execute(id);
  await deliver();
  expect(await get(id)).toMatchObject({ stats: { failed: 5 } });
  expect(await read()).toMatchObject({ available: 5 * price, held: 0 });
  await setFaults(app, {});
  await leave(4);
  const retry = () => app.call(broadcasts.retry_broadcast, { id });
  expect(await expectFailure(retry())).toMatchObject({ status: 402 });
  await leave(5);
  await retry();
  expect(await read()).toMatchObject({ available: 0, held: 5 * price });
  expect((await get(id)).cost).toMatchObject({ charged: 0, held: 5 * price });
  await deliver();
  expect((await get(id)).cost).toMatchObject({ charged: 5 * price, held: 0 });
  expect(await read()).toMatchObject({ available: 0, held: 0 });
  expect(await countCharges()).toBe(before + 5);
});

test("a scheduled broadcast that the wallet can't pay fails at its time", async () => {
  await leave(1);
  const scheduled_at = new Date(app.now().getTime() + 60_000).toISOString();
  const { id } = await create({ ...content, scheduled_at });
  await app.advanceTime(61_000);
  expect(await get(id)).toMatchObject({
    execution_status: "failed",
    failure_reason: "insufficient_funds",
    recipient_count: 0,
  });
});

describe("a scheduled broadcast that could not be paid", () => {
  async function fail() {
    await leave(1);
    const { cursor } = (await app.call(webhooks.list_events, {})).meta;
    const scheduled_at = new Date(app.now().getTime() + 60_000).toISOString();
    const { id } = await create({ ...content, scheduled_at });
    await app.advanceTime(61_000);
    const { data: events } = await app.call(webhooks.list_events, {
      after: cursor,
      types: "broadcast.not_started",
    });
    const reported = events.filter(({ type }) => type === "broadcast.not_started");
    return { id, scheduled_at, reported: reported.map(({ data }) => data) };
  }

  test("is reported by an event, and executed again once there is money", async () => {
    const { id, scheduled_at, reported } = await fail();
    expect(reported).toEqual([
      {
        broadcast_id: id,
        name: "Offer",
        scheduled_at,
        execution_status: "failed",
        reason: "insufficient_funds",
      },
    ]);
    expect(await expectFailure(execute(id))).toMatchObject({ status: 402 });
    await leave(5);
    expect((await app.call(broadcasts.estimate_broadcast, { id })).data.is_affordable).toBe(true);
    expect(await execute(id)).toMatchObject({ execution_status: "processing", failure_reason: null });
    await deliver();
    expect(await get(id)).toMatchObject({ execution_status: "completed", stats: { sent: 5 } });
  });

  test("is a draft after a change, scheduled with a new time, and can be deleted", async () => {
    const { id } = await fail();
    const { data: draft } = await app.call(broadcasts.update_broadcast, { id, name: "Later" });
    expect(draft).toMatchObject({ execution_status: "draft", scheduled_at: null, failure_reason: null });
    await leave(5);
    const scheduled_at = new Date(app.now().getTime() + 60_000).toISOString();
    const { data: again } = await app.call(broadcasts.update_broadcast, { id, scheduled_at });
    expect(again.execution_status).toBe("scheduled");
    await app.advanceTime(61_000);
    await deliver();
    expect((await get(id)).execution_status).toBe("completed");

    const other = await fail();
    await app.call(broadcasts.delete_broadcast, { id: other.id });
    expect(await expectFailure(get(other.id))).toMatchObject({ status: 404 });
  });
});
