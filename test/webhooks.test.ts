/** Webhooks: subscriptions, signatures, limits and rejected addresses. */
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { auth } from "../tools/auth.ts";
import { specifiedEvents } from "../tools/events.ts";
import { messages } from "../tools/messages/index.ts";
import { users } from "../tools/users.ts";
import { webhookEvents, webhooks } from "../tools/webhooks.ts";
import { ownerEmail, ownerPassword, startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone } from "./support/simulator.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./support/webhook-receiver.ts";

const app = useTestApp({ env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" } });
let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startWebhookReceiver();
});
afterEach(async () => {
  const { data } = await app.call(webhooks.list_webhooks, {});
  for (const { id } of data.webhooks) {
    await app.call(webhooks.delete_webhook, { id });
  }
  await receiver[Symbol.asyncDispose]();
});

type Events = (typeof webhookEvents)[number][];

async function subscribe(events: Events = webhookEvents, url = receiver.url) {
  const { data } = await app.call(webhooks.create_webhook, { url, events });
  receiver.secret = data.signing_secret;
  return data;
}

const send = (to: string) => app.call(messages.send_message, { to, type: "text", text: { body: "hello" } });

test("the secret is shown once", async () => {
  const { id, signing_secret } = await subscribe();
  expect(signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const listed = await app.call(webhooks.list_webhooks, {});
  const { data: owners } = await app.call(users.list_users, { search: ownerEmail });
  expect(listed.data.webhooks[0]).toEqual({
    id,
    url: receiver.url,
    events: webhookEvents,
    is_active: true,
    disabled_reason: null,
    description: null,
    created_by: owners[0]?.id,
    created_at: app.now().toISOString(),
    updated_at: app.now().toISOString(),
  });
  expect(JSON.stringify(listed)).not.toContain(signing_secret);
});

test("the developer-access path has the same response, and accepts a user's access token", async () => {
  const { data } = await app.call(auth.login, { email: ownerEmail, password: ownerPassword });
  const answer = await app.fetch("/v1/developer-access/webhooks", {
    method: "POST",
    json: { url: receiver.url, events: ["message.read"] },
    key: null,
    headers: { authorization: `Bearer ${data.access_token}` },
  });
  expect(answer.status).toBe(201);
  expect(await answer.json()).toMatchObject({ data: { signing_secret: expect.stringMatching(/^whsec_/) } });
});

test("a receiver written from the specification accepts each of the five events", async () => {
  await subscribe([...specifiedEvents]);
  const arrivedAt = app.now().toISOString();
  const { message_id, conversation_id } = await openPhone(app, "+14155550131").write("hi");
  await send("+14155550131");
  await app.advanceTime(1000);
  await openPhone(app, "+14155550131").read();
  await app.advanceTime(1000);
  await app.fetch("/simulator/faults", {
    method: "PUT",
    json: { failures: [{ code: 131026, share: 1 }] },
  });
  await send("+14155550132");
  await app.advanceTime(1000);
  await app.fetch("/simulator/faults", { method: "PUT", json: {} });
  expect(receiver.forged).toBe(0);
  expect(receiver.received.map(({ event }) => event.type)).toEqual([
    "message.received",
    "message.sent",
    "message.delivered",
    "message.read",
    "message.sent",
    "message.failed",
  ]);
  const [received, sent] = receiver.received;
  expect(received?.event).toEqual({
    id: expect.stringMatching(/^evt_/),
    type: "message.received",
    organization_id: expect.stringMatching(/^org_/),
    created_at: arrivedAt,
    data: { message_id, conversation_id, from: "+14155550131", type: "text", text: { body: "hi" } },
  });
  expect(sent?.event.data).toEqual({
    message_id: expect.stringMatching(/^msg_/),
    conversation_id,
    to: "+14155550131",
    type: "text",
    status: "sent",
    timestamp: arrivedAt,
    sequence: 1,
  });
  expect(receiver.received.slice(1).map(({ event }) => event.data.sequence)).toEqual([1, 3, 4, 1, 2]);
  expect(receiver.received.at(-1)?.event.data).toMatchObject({
    status: "failed",
    error: { code: "undeliverable" },
  });
});

test("the same secret verifies Standard Webhooks signatures", async () => {
  const { signing_secret } = await subscribe();
  await openPhone(app, "+14155550133").write("hi");
  await app.runDueJobs();
  const [{ body, headers, event } = failMissing()] = receiver.received;
  expect(new Webhook(signing_secret).verify(body, headers as Record<string, string>)).toEqual(event);
  expect(headers["webhook-id"]).toBe(event.id);
  expect(() => new Webhook(signing_secret).verify(`${body} `, headers as Record<string, string>)).toThrow();
});

test("only subscribed events are delivered", async () => {
  await subscribe(["message.delivered"]);
  await openPhone(app, "+14155550134").write("hi");
  await send("+14155550134");
  await app.advanceTime(1000);
  expect(receiver.received.map(({ event }) => event.type)).toEqual(["message.delivered"]);
});

test("nothing is delivered after the deletion, not even queued events", async () => {
  const { id } = await subscribe();
  await openPhone(app, "+14155550135").write("hi");
  expect(await app.call(webhooks.delete_webhook, { id })).toEqual({ data: { deleted: true } });
  await app.runDueJobs();
  expect(receiver.received).toEqual([]);
  expect(await expectFailure(app.call(webhooks.delete_webhook, { id }))).toMatchObject({
    status: 404,
    code: "webhook_not_found",
  });
});

test("after a rotation both secrets verify an event for a day", async () => {
  const before = await subscribe();
  const { data: after } = await app.call(webhooks.rotate_webhook_secret, { id: before.id });
  expect(after.signing_secret).not.toBe(before.signing_secret);
  receiver.secret = after.signing_secret;
  const verifies = ({ signing_secret }: { signing_secret: string }) => {
    const { body, headers } = receiver.received.at(-1) ?? failMissing();
    try {
      return Boolean(new Webhook(signing_secret).verify(body, headers as Record<string, string>));
    } catch {
      return false;
    }
  };
  await openPhone(app, "+14155550136").write("hi");
  await app.runDueJobs();
  expect([verifies(before), verifies(after)]).toEqual([true, true]);
  await app.advanceTime(24 * 3_600_000);
  await openPhone(app, "+14155550136").write("hi");
  await app.runDueJobs();
  expect(receiver.received.at(-1)?.headers["webhook-signature"]).toMatch(/^v1,\S+$/);
});

test("an update changes only the fields sent", async () => {
  const { id } = await subscribe();
  const { data } = await app.call(webhooks.update_webhook, {
    id,
    events: ["message.read"],
    description: "x",
  });
  expect(data).toMatchObject({ id, url: receiver.url, events: ["message.read"], description: "x" });
  expect((await app.call(webhooks.get_webhook, { id })).data).toEqual(data);
});

test("an organization has at most 100 webhooks, also with concurrent requests", async () => {
  await using app = await startTestApp();
  const input = { url: "https://hooks.example.com/", events: ["message.read" as const] };
  const outcomes = await Promise.allSettled(
    Array.from({ length: 102 }, () => app.call(webhooks.create_webhook, input)),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(100);
  expect(await expectFailure(app.call(webhooks.create_webhook, input))).toMatchObject({
    status: 422,
    code: "too_many_webhooks",
  });
  const { data } = await app.call(webhooks.list_webhooks, {});
  await app.call(webhooks.delete_webhook, { id: data.webhooks[0]?.id ?? "" });
  await app.call(webhooks.create_webhook, input);
});

describe("a forbidden address", () => {
  const create = (at: TestApp, url: string) =>
    expectFailure(at.call(webhooks.create_webhook, { url, events: ["message.read"] }));

  test("is rejected on creation and update; plain http and loopback too, unless allowed", async () => {
    await using strict = await startTestApp();
    for (const url of [
      "http://example.com/",
      "https://127.0.0.1/",
      "https://10.0.0.1/",
      "https://a.example:22/",
    ]) {
      expect(await create(strict, url), url).toMatchObject({ status: 400, code: "webhook_address_refused" });
    }
    const input = { url: "https://hooks.example.com/", events: ["message.read" as const] };
    const { data } = await strict.call(webhooks.create_webhook, input);
    const change = strict.call(webhooks.update_webhook, { id: data.id, url: "http://example.com/" });
    expect(await expectFailure(change)).toMatchObject({ code: "webhook_address_refused" });
  });

  test("that is too long is rejected with the limit", async () => {
    const long = await create(app, `https://a.example/${"a".repeat(2_048)}`);
    expect(long).toMatchObject({ status: 400, message: expect.stringContaining("At most 2048") });
  });

  test("on another private network is rejected in development too", async () => {
    expect(await create(app, "http://169.254.169.254/")).toMatchObject({ code: "webhook_address_refused" });
  });

  test("is not connected to, even if it is in the table", async () => {
    const { id } = await subscribe();
    await app.server.database.queries
      .updateTable("webhooks")
      .set({ url: "http://169.254.169.254/latest" })
      .where("id", "=", id)
      .execute();
    await openPhone(app, "+14155550137").write("hi");
    await app.runDueJobs();
    const { data } = await app.call(webhooks.list_webhook_deliveries, { id });
    expect(data[0]).toMatchObject({
      status: "pending",
      attempts: [{ status_code: null, error: expect.stringContaining("not a public address") }],
    });
  });
});

function failMissing(): never {
  throw new Error("no webhook was received");
}
