/** `test_webhook`: what is sent, how the receiver answered, and what to do if it failed. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { timeoutFor, waitMsOf } from "../src/client/index.ts";
import { explainTest } from "../src/platform/automation/webhooks/explain-test.ts";
import { modules } from "../src/platform/index.ts";
import { eventExamples } from "../tools/event-examples.ts";
import { webhookEvents, webhooks } from "../tools/webhooks.ts";
import { startTestApp, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./support/webhook-receiver.ts";
import { createWorldProbe } from "./support/world.ts";

const app = useTestApp({ env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" } });
let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startWebhookReceiver();
});
afterEach(() => receiver[Symbol.asyncDispose]());

async function subscribe() {
  const { data } = await app.call(webhooks.create_webhook, { url: receiver.url, events: webhookEvents });
  receiver.secret = data.signing_secret;
  return data;
}

test("a test event is signed, and its result returned", async () => {
  const { id } = await subscribe();
  const { data } = await app.call(webhooks.test_webhook, { id });
  expect(data).toMatchObject({ delivered: true, status_code: 200, problem: null });
  expect(receiver.received.at(-1)?.headers).toMatchObject(data.request.headers);
  expect(receiver.received.map(({ event }) => event)).toEqual([data.event]);
  expect(data.event).toMatchObject({
    id: expect.stringMatching(/^evt_test_/),
    type: "message.received",
    data: { test: true },
  });
});

test("an example of an event that the webhook subscribes to can be sent", async () => {
  const { id } = await subscribe();
  const { data } = await app.call(webhooks.test_webhook, { id, event: "message.failed" });
  const { type, data: sent } = data.event;
  expect({ type, sent }).toEqual({
    type: "message.failed",
    sent: { ...eventExamples["message.failed"].data, test: true },
  });
  expect(data).toMatchObject({ delivered: true, ms: expect.any(Number) });
  expect(receiver.received.map(({ event }) => event)).toEqual([data.event]);
});

test("a webhook without message.received gets the first of its types, and no type that it does not have", async () => {
  const events = ["message.failed", "message.delivered"] as const;
  const input = { url: receiver.url, events: [...events] };
  const { data: webhook } = await app.call(webhooks.create_webhook, input);
  receiver.secret = webhook.signing_secret;
  const { data } = await app.call(webhooks.test_webhook, { id: webhook.id });
  expect(data.event).toMatchObject({ type: "message.delivered" });
  expect(data.event.data).toEqual({ test: true });
  const other = app.call(webhooks.test_webhook, { id: webhook.id, event: "message.received" });
  expect(await expectFailure(other)).toMatchObject({
    status: 422,
    code: "event_not_subscribed",
    error: { param: "event" },
  });
  const unknown = app.call(webhooks.test_webhook, { id: webhook.id, event: "message.gone" });
  expect(await expectFailure(unknown)).toMatchObject({
    status: 400,
    error: { param: "event", details: [{ message: expect.stringContaining("such as message.sent;") }] },
  });
  expect(receiver.received).toHaveLength(1);
});

test.each([
  ["a failure", { status: 500 }, "The receiver failed: check its log."],
  [
    "a redirect",
    { status: 302, headers: { location: "/" } },
    expect.stringContaining("Redirects are not followed"),
  ],
  ["a demand for credentials", { status: 401 }, expect.stringContaining("without credentials")],
  ["another refusal", { status: 418 }, expect.stringContaining("200 to 299")],
])("a test reports %s, after one attempt", async (_, reaction, fix) => {
  const { id } = await subscribe();
  receiver.respond = () => reaction;
  const { data } = await app.call(webhooks.test_webhook, { id });
  const { status } = reaction;
  expect(data).toMatchObject({ delivered: false, status_code: status, problem: { reason: "status", fix } });
  await app.advanceTime(60_000);
  expect(receiver.received).toHaveLength(1);
});

test("a test is sent again under an idempotency key that has expired", async () => {
  // Before the minute of the hour in which expired responses are deleted.
  const startsAt = new Date("2026-01-01T00:00:00Z");
  await using day = await startTestApp({ startsAt, env: { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" } });
  const { data } = await day.call(webhooks.create_webhook, { url: receiver.url, events: ["message.read"] });
  receiver.secret = data.signing_secret;
  const repeat = () => day.call(webhooks.test_webhook, { id: data.id }, { idempotencyKey: "expired" });
  const first = await repeat();
  await day.advanceTime(24 * 3_600_000);
  expect(await repeat()).toEqual(first);
  await day.advanceTime(60_000);
  const second = await repeat();
  expect(second.data).toMatchObject({ delivered: true });
  expect(receiver.received.map(({ event }) => event)).toEqual([first.data.event, second.data.event]);
});

test.each([
  ["unresolved", "DNS record"],
  ["tls", "certificate"],
  ["timeout", "Answer at once"],
  ["malformed", "HTTP/1.1"],
] as const)("a test explains %s", (reason, fix) => {
  const problem = explainTest({ outcome: "failed", reason, detail: "It failed.", ms: 1 });
  expect(problem).toEqual({ reason, message: "It failed.", fix: expect.stringContaining(fix) });
});

test("a test points to `tidings listen` for an address that is not public", () => {
  const problem = explainTest({ outcome: "forbidden", reason: "address", detail: "It is local." });
  expect(problem?.fix).toContain("tidings listen");
});

test("a test reports an unreachable address", async () => {
  const { id } = await subscribe();
  await receiver[Symbol.asyncDispose]();
  const { data } = await app.call(webhooks.test_webhook, { id });
  const problem = { reason: "refused", message: "127.0.0.1 refused the connection." };
  expect(data).toMatchObject({ delivered: false, status_code: null, problem });
});

test("a test waits as long as a delivery, 30 s, and its caller longer", async () => {
  const { probe, readWorld } = createWorldProbe();
  await using own = await startTestApp({ enabledModules: { ...modules, probe } });
  const timeouts: number[] = [];
  const world = await readWorld(own);
  Object.assign(world, {
    receivers: {
      ...world.receivers,
      async send({ timeoutMs }: { readonly timeoutMs: number }) {
        timeouts.push(timeoutMs);
        return { outcome: "failed", reason: "timeout", detail: "It failed.", ms: timeoutMs };
      },
    },
  });
  const input = { url: "https://example.com/hook", events: ["message.sent"] } as const;
  const { data } = await own.call(webhooks.create_webhook, { ...input, events: [...input.events] });
  await own.call(webhooks.test_webhook, { id: data.id });
  expect(timeouts).toEqual([30_000]);
  expect(timeoutFor(waitMsOf(webhooks.test_webhook, { id: data.id }), 25_000)).toBe(40_000);
});
