/**
 * Webhook deliveries: retried until they succeed, in order, never lost, and independent of other webhooks.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { retryDelaysMs } from "../src/platform/automation/webhooks/schedule.ts";
import { specifiedEvents } from "../tools/events.ts";
import { messages } from "../tools/messages/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import { silentLog, startTestApp, type TestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone } from "./support/simulator.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./support/webhook-receiver.ts";

const [minute, day] = [60_000, 24 * 3_600_000];
const warnings: object[] = [];
const open = (options: { runsJobs?: boolean } = {}) =>
  startTestApp({
    env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" },
    log: { ...silentLog, warn: (facts, message) => void warnings.push({ ...facts, message }) },
    ...options,
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

async function subscribe(to = receiver, at = app): Promise<string> {
  const { data } = await at.call(webhooks.create_webhook, { url: to.url, events: [...specifiedEvents] });
  to.secret = data.signing_secret;
  return data.id;
}

async function deliveries(id: string) {
  const { data } = await app.call(webhooks.list_webhook_deliveries, { id });
  return data;
}

const write = (text = "hi", at = app) => openPhone(at, "+14155550141").write(text);
const ids = (from = receiver) => from.received.map(({ event }) => event.id);

describe("a failed delivery", () => {
  test("is tried ten times over three days with the same id and body, then fails", async () => {
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

  test("is retried until it succeeds", async () => {
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

  test("includes a redirect", async () => {
    const id = await subscribe();
    receiver.respond = () => ({ status: 301, headers: { location: receiver.url } });
    await write();
    await app.runDueJobs();
    expect(receiver.received).toHaveLength(1);
    expect((await deliveries(id))[0]).toMatchObject({ status: "pending", attempts: [{ status_code: 301 }] });
  });

  test("stores the first 4 kB of the response", async () => {
    const id = await subscribe();
    receiver.respond = () => ({ status: 500, body: `\0${"é".repeat(10_000)}` });
    await write();
    await app.runDueJobs();
    expect((await deliveries(id))[0]?.attempts[0]?.answer).toMatch(/^é{2047}/);
  });
});

test("a message's events keep their order, and a failure does not delay later events", async () => {
  await subscribe();
  let failures = 1;
  receiver.respond = () => ({ status: failures-- > 0 ? 500 : 200 });
  const { data } = await app.call(messages.send_message, {
    to: "+14155550142",
    type: "text",
    text: { body: "hello" },
  });
  await app.advanceTime(1000);
  await app.advanceTime(10_000);
  const delivered = receiver.received.filter(({ event }) => event.data.message_id === data.id);
  expect(delivered.map(({ event }) => event.data.sequence)).toEqual([1, 3, 1]);
  receiver.received.length = 0;
  await Promise.all(Array.from({ length: 20 }, (_, number) => write(`number ${number}`)));
  await app.runDueJobs();
  const sorted = ids().toSorted();
  expect(ids()).toEqual(sorted);
});

test("recovery includes deliveries that wait for a retry, and sends each once", async () => {
  const id = await subscribe();
  receiver.respond = () => ({ status: 500 });
  await write("first");
  await write("second");
  await app.advanceTime(6_000);
  await app.advanceTime(6 * minute);
  const attempts = receiver.received.length;
  receiver.respond = () => ({});
  const since = new Date(app.now().getTime() - day).toISOString();
  const recovered = await app.call(webhooks.recover_webhook_deliveries, { id, since });
  expect(recovered).toEqual({ data: { recovering: 2 } });
  await app.runDueJobs();
  expect(receiver.received.slice(attempts).map(({ event }) => event.data.text)).toEqual([
    { body: "first" },
    { body: "second" },
  ]);
  await app.advanceTime(4 * day);
  expect(receiver.received).toHaveLength(attempts + 2);
  expect((await deliveries(id)).map(({ status }) => status)).toEqual(["delivered", "delivered"]);
});

test("a delivery that is recovered at the last moment keeps its retries and its attempts", async () => {
  const id = await subscribe();
  receiver.respond = () => ({ status: 500 });
  await write("late");
  for (let age = 0; age < 14; age += 0.5) {
    await app.advanceTime(0.5 * day - 1_000);
  }
  const attempts = receiver.received.length;
  const since = new Date(app.now().getTime() - 14 * day + 1).toISOString();
  await app.call(webhooks.update_webhook, { id, is_active: true });
  await app.call(webhooks.recover_webhook_deliveries, { id, since });
  await app.advanceTime(2 * day);
  receiver.respond = () => ({});
  await app.advanceTime(2 * day);
  const [delivery] = await deliveries(id);
  expect(delivery).toMatchObject({ status: "delivered" });
  expect(delivery?.attempts).toHaveLength(attempts + 3);
});

describe("a webhook is deactivated", () => {
  test("at once by 410; later deliveries are held, and recovered on demand", async () => {
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
    const unknown = app.call(webhooks.replay_webhook_delivery, { id, delivery_id: "evt_none" });
    expect(await expectFailure(unknown)).toMatchObject({ status: 404, code: "webhook_delivery_not_found" });

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

  test("after five days without a success", async () => {
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

  test("not after a success in between", async () => {
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

test("a replay has the same id, and replaces the next retry", async () => {
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

test("a delivery whose result was not stored is sent again with the same id", async () => {
  const id = await subscribe();
  await write();
  const { queries } = app.server.database;
  const rows = queries.selectFrom("webhook_deliveries").selectAll().where("webhook_id", "=", id);
  const { attempts: _, ...before } = await rows.executeTakeFirstOrThrow();
  const jobs = queries.selectFrom("jobs").selectAll().where("lane", "=", `webhook:${id}`);
  const job = await jobs.executeTakeFirstOrThrow();
  await app.runDueJobs();
  // The state after a crash that follows the response: the delivery unchanged, and its job due again.
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

test("a hanging and a failing webhook delay no other", async () => {
  await using live = await open({ runsJobs: true });
  await using hanging = await startWebhookReceiver();
  await using failing = await startWebhookReceiver();
  hanging.respond = () => ({ hangs: true });
  failing.respond = () => ({ status: 503 });
  for (const one of [hanging, failing, receiver]) {
    await subscribe(one, live);
  }
  for (let number = 0; number < 40; number += 1) {
    await write(`number ${number}`, live);
  }
  await expect.poll(() => new Set(ids()).size).toBe(40);
  // The hanging webhook has only its own share of concurrent attempts.
  expect(hanging.received.length).toBeLessThanOrEqual(32);
});
