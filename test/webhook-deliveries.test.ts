/** Deliveries of webhooks: tried until they succeed, in order while they do, never lost, never in each other's way. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { retryDelaysMs } from "../src/platform/webhooks/schedule.ts";
import { messages } from "../tools/messages/index.ts";
import { webhookEvents, webhooks } from "../tools/webhooks.ts";
import { silentLog, startTestApp, type TestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone } from "./support/simulator.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./support/webhook-receiver.ts";

const [minute, day] = [60_000, 24 * 3_600_000];
const warnings: object[] = [];
const open = (more: { works?: boolean } = {}) =>
  startTestApp({
    env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" },
    log: { ...silentLog, warn: (facts, message) => void warnings.push({ ...facts, message }) },
    ...more,
  });

let app: TestApp;
let receiver: WebhookReceiver;
beforeAll(async () => {
  app = await open();
});
afterAll(() => app[Symbol.asyncDispose]());
beforeEach(async () => {
  receiver = await startWebhookReceiver();
  warnings.length = 0;
});
afterEach(async () => {
  const { data } = await app.call(webhooks.list_webhooks, {});
  for (const { id } of data.webhooks) {
    await app.call(webhooks.delete_webhook, { id });
  }
  await receiver[Symbol.asyncDispose]();
});

async function subscribe(to = receiver, where = app): Promise<string> {
  const { data } = await where.call(webhooks.create_webhook, { url: to.url, events: webhookEvents });
  to.secret = data.signing_secret;
  return data.id;
}

async function deliveries(id: string) {
  const { data } = await app.call(webhooks.list_webhook_deliveries, { id });
  return data;
}

const write = (text = "hi", where = app) => openPhone(where, "+14155550141").write(text);
const ids = (from = receiver) => from.received.map(({ event }) => event.id);

describe("a failure is tried again", () => {
  test("ten times over three days, with the same id and bytes, and is then given up", async () => {
    const id = await subscribe();
    receiver.respond = () => ({ status: 404, body: "no such page" });
    await write();
    await app.runDueJobs();
    for (const [index, waitMs] of retryDelaysMs.entries()) {
      await app.advanceTime(waitMs * 0.79);
      expect(receiver.received).toHaveLength(index + 1);
      await app.advanceTime(waitMs * 0.42);
      expect(receiver.received).toHaveLength(index + 2);
    }
    await app.advanceTime(3 * day);
    expect(receiver.received).toHaveLength(10);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    const [delivery] = await deliveries(id);
    expect(delivery).toMatchObject({ id: ids()[0], status: "failed", next_try_at: null });
    expect(delivery?.attempts).toHaveLength(10);
    expect(delivery?.attempts[0]).toMatchObject({ number: 1, status_code: 404, answer: "no such page" });
  });

  test("until it succeeds", async () => {
    const id = await subscribe();
    receiver.respond = () => ({ status: receiver.received.length < 3 ? 500 : 204 });
    await write();
    await app.advanceTime(6_000);
    await app.advanceTime(6 * minute);
    await app.advanceTime(day);
    expect(receiver.received).toHaveLength(3);
    const [delivery] = await deliveries(id);
    expect(delivery).toMatchObject({
      status: "delivered",
      attempts: [{}, {}, { status_code: 204, next_try_at: null }],
    });
    const filtered = await app.call(webhooks.list_webhook_deliveries, { id, status: "failed" });
    expect(filtered).toMatchObject({ data: [], meta: { total: 0 } });
  });

  test("and a redirect is one", async () => {
    const id = await subscribe();
    receiver.respond = () => ({ status: 301, headers: { location: receiver.url } });
    await write();
    await app.runDueJobs();
    expect(receiver.received).toHaveLength(1);
    expect((await deliveries(id))[0]).toMatchObject({ status: "pending", attempts: [{ status_code: 301 }] });
  });

  test("of a long answer the first 4 kB are kept", async () => {
    const id = await subscribe();
    receiver.respond = () => ({ status: 500, body: `\0${"é".repeat(10_000)}` });
    await write();
    await app.runDueJobs();
    expect((await deliveries(id))[0]?.attempts[0]?.answer).toMatch(/^é{2047}/);
  });
});

test("a message's events keep their order, and a failure does not keep back what follows", async () => {
  await subscribe();
  let failures = 1;
  receiver.respond = () => ({ status: failures-- > 0 ? 500 : 200 });
  const { data } = await app.call(messages.send_message, {
    ...{ to: "+14155550142", type: "text", text: { body: "hello" } },
  });
  await app.advanceTime(1000);
  await app.advanceTime(10_000);
  const told = receiver.received.filter(({ event }) => event.data.message_id === data.id);
  expect(told.map(({ event }) => event.data.sequence)).toEqual([1, 3, 1]);
  receiver.received.length = 0;
  await Promise.all(Array.from({ length: 20 }, (_, number) => write(`number ${number}`)));
  await app.runDueJobs();
  const sorted = ids().toSorted();
  expect(ids()).toEqual(sorted);
});

test("what waits for another try is recovered too, once, when the receiver is well again", async () => {
  const id = await subscribe();
  receiver.respond = () => ({ status: 500 });
  await write("first");
  await write("second");
  await app.advanceTime(6_000);
  await app.advanceTime(6 * minute);
  const tried = receiver.received.length;
  receiver.respond = () => ({});
  const since = new Date(app.now().getTime() - day).toISOString();
  const recovered = await app.call(webhooks.recover_webhook_deliveries, { id, since });
  expect(recovered).toEqual({ data: { recovering: 2 } });
  await app.runDueJobs();
  expect(receiver.received.slice(tried).map(({ event }) => event.data.text)).toEqual([
    { body: "first" },
    { body: "second" },
  ]);
  await app.advanceTime(4 * day);
  expect(receiver.received).toHaveLength(tried + 2);
  expect((await deliveries(id)).map(({ status }) => status)).toEqual(["delivered", "delivered"]);
});

describe("a webhook is switched off", () => {
  test("at once by 410; what comes then is held, and recovered on demand", async () => {
    const id = await subscribe();
    receiver.respond = () => ({ status: 410 });
    await write("first");
    await app.runDueJobs();
    expect((await app.call(webhooks.get_webhook, { id })).data).toMatchObject({
      is_active: false,
      disabled_reason: "gone",
    });
    expect(warnings).toContainEqual(expect.objectContaining({ webhook_id: id, disabled_reason: "gone" }));
    await write("second");
    await app.advanceTime(day);
    expect(receiver.received).toHaveLength(1);
    expect((await deliveries(id)).map(({ status }) => status)).toEqual(["held", "held"]);
    const since = new Date(app.now().getTime() - 2 * day).toISOString();
    expect(await expectFailure(app.call(webhooks.recover_webhook_deliveries, { id, since }))).toMatchObject({
      status: 409,
      code: "webhook_inactive",
    });

    receiver.respond = () => ({});
    const { data } = await app.call(webhooks.update_webhook, { id, is_active: true });
    expect(data).toMatchObject({ is_active: true, disabled_reason: null });
    await app.advanceTime(day);
    expect(receiver.received).toHaveLength(1);
    const recovered = await app.call(webhooks.recover_webhook_deliveries, { id, since });
    expect(recovered).toEqual({ data: { recovering: 2 } });
    await app.runDueJobs();
    expect(receiver.received.slice(1).map(({ event }) => event.data.text)).toEqual([
      { body: "first" },
      { body: "second" },
    ]);
    expect(ids()[1]).toBe(ids()[0]);
  });

  test("after five days of nothing but failures", async () => {
    const id = await subscribe();
    receiver.respond = () => ({ status: 500 });
    await write();
    await app.advanceTime(4.9 * day);
    await write();
    await app.runDueJobs();
    const isActive = async () => (await app.call(webhooks.get_webhook, { id })).data.is_active;
    expect(await isActive()).toBe(true);
    await app.advanceTime(0.2 * day);
    expect((await app.call(webhooks.get_webhook, { id })).data).toMatchObject({
      is_active: false,
      disabled_reason: "failing",
    });
  });

  test("not when one success lies between", async () => {
    const id = await subscribe();
    receiver.respond = () => ({ status: 500 });
    await write();
    await app.advanceTime(3 * day);
    receiver.respond = () => ({});
    await write();
    await app.runDueJobs();
    receiver.respond = () => ({ status: 500 });
    await write();
    await app.advanceTime(3 * day);
    await write();
    await app.runDueJobs();
    expect((await app.call(webhooks.get_webhook, { id })).data.is_active).toBe(true);
  });
});

test("a delivery is replayed under its id, in place of the try that was to come", async () => {
  const id = await subscribe();
  receiver.respond = () => ({ status: 500 });
  await write();
  await app.runDueJobs();
  receiver.respond = () => ({});
  const delivery_id = ids()[0] ?? "";
  const { data } = await app.call(webhooks.replay_webhook_delivery, { id, delivery_id });
  expect(data).toMatchObject({ id: delivery_id, status: "pending", attempts: [{ status_code: 500 }] });
  await app.advanceTime(day);
  expect(ids()).toEqual([delivery_id, delivery_id]);
  const since = new Date(app.now().getTime() - 15 * day).toISOString();
  expect(await expectFailure(app.call(webhooks.recover_webhook_deliveries, { id, since }))).toMatchObject({
    status: 400,
    code: "since_too_early",
  });
});

test("what was sent and not written down is sent again under the same id", async () => {
  const id = await subscribe();
  await write();
  const { queries } = app.server.database;
  const rows = queries.selectFrom("webhook_deliveries").selectAll().where("webhook_id", "=", id);
  const { attempts: _, ...before } = await rows.executeTakeFirstOrThrow();
  const jobs = queries.selectFrom("jobs").selectAll().where("lane", "=", `webhook:${id}`);
  const job = await jobs.executeTakeFirstOrThrow();
  await app.runDueJobs();
  // As a crash after the answer leaves it: the delivery as it was, and its job due again.
  await queries
    .updateTable("webhook_deliveries")
    .set({ ...before, attempts: "[]" })
    .where("webhook_id", "=", id)
    .execute();
  await queries
    .insertInto("jobs")
    .values({ ...job, payload: JSON.stringify(job.payload) })
    .execute();
  await app.runDueJobs();
  expect(ids()).toEqual([before.event_id, before.event_id]);
  expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
  expect((await deliveries(id))[0]).toMatchObject({ status: "delivered" });
});

test("one that hangs and one that refuses delay nobody", async () => {
  await using live = await open({ works: true });
  await using hanging = await startWebhookReceiver();
  await using refusing = await startWebhookReceiver();
  hanging.respond = () => ({ hangs: true });
  refusing.respond = () => ({ status: 503 });
  for (const one of [hanging, refusing, receiver]) {
    await subscribe(one, live);
  }
  for (let number = 0; number < 40; number += 1) {
    await write(`number ${number}`, live);
  }
  await expect.poll(() => new Set(ids()).size).toBe(40);
  // What hangs has no more than its own share of tries at once.
  expect(hanging.received.length).toBeLessThanOrEqual(32);
});
