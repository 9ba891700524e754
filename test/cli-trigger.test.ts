/** `tidings trigger` without an address: examples of events for the webhooks of the organization. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventExamples } from "../tools/event-examples.ts";
import { webhooks } from "../tools/webhooks.ts";
import { ownerKey, type TestApp, useTestApp } from "./support/app.ts";
import { runCommand } from "./support/command.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./support/webhook-receiver.ts";
import { startGraphApi, startWhatsAppApp, whatsAppNumber } from "./support/whatsapp.ts";

const env = { TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" };
const app = useTestApp({ env });
let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startWebhookReceiver();
});
afterEach(async () => {
  await receiver[Symbol.asyncDispose]();
  const { data } = await app.call(webhooks.list_webhooks, {});
  for (const { id } of data.webhooks) {
    await app.call(webhooks.delete_webhook, { id });
  }
});

async function subscribe(at: TestApp, ...events: (keyof typeof eventExamples)[]) {
  const { data } = await at.call(webhooks.create_webhook, { url: receiver.url, events });
  receiver.secret = data.signing_secret;
  return data;
}

/** The code with which the process would exit is in `status`. */
async function trigger(at: TestApp, type: string, ...options: string[]) {
  const settings = { TIDINGS_BASE_URL: at.address, TIDINGS_API_KEY: ownerKey };
  const before = process.exitCode;
  process.exitCode = undefined;
  const result = await runCommand(["trigger", type, ...options], settings);
  const status = result.status || Number(process.exitCode ?? 0);
  process.exitCode = before;
  return { ...result, status };
}

test("the webhooks that subscribe to the event get its example, signed and marked as a test", async () => {
  await subscribe(app, "message.sent");
  await subscribe(app, "message.failed", "message.received");
  const { status, stdout, stderr } = await trigger(app, "message.failed");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(/^http:\S+ {2}200 {2}\d+ ms\n$/);
  expect(stdout.startsWith(`${receiver.url}  `)).toBe(true);
  expect(receiver.received.map(({ event }) => ({ type: event.type, data: event.data }))).toEqual([
    { type: "message.failed", data: { ...eventExamples["message.failed"].data, test: true } },
  ]);
  expect(receiver.forged).toBe(0);
});

test("an answer that is no success is explained, and the exit code is 1", async () => {
  const { id } = await subscribe(app, "message.sent");
  receiver.respond = () => ({ status: 500 });
  const { status, stdout } = await trigger(app, "message.sent");
  expect(status).toBe(1);
  expect(stdout).toMatch(/ {2}500 {2}\d+ ms\n {2}The receiver failed: check its log\.\n$/);
  const json = await trigger(app, "message.sent", "--json");
  expect(json.status).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject([
    { webhook_id: id, url: receiver.url, delivered: false, status_code: 500, problem: { reason: "status" } },
  ]);
});

test("a disabled webhook gets nothing", async () => {
  const { id } = await subscribe(app, "message.sent");
  await app.call(webhooks.update_webhook, { id, is_active: false });
  const { status, stderr } = await trigger(app, "message.sent");
  expect(status).toBe(1);
  expect(stderr).toContain(
    "No active webhook subscribes to message.sent. Create one with create_webhook (POST /v1/webhook-subscriptions).",
  );
  expect(receiver.received).toEqual([]);
});

test("an organization with a real inbox is refused, and nothing is sent", async () => {
  await using graph = await startGraphApi();
  const { app: real } = await startWhatsAppApp(graph, { env });
  await using _ = real;
  await subscribe(real, "message.sent");
  const { status, stdout, stderr } = await trigger(real, "message.sent");
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain(`The organization has a real inbox, ${whatsAppNumber} (whatsapp).`);
  expect(stderr).toContain("--forward-to http://127.0.0.1:4000/hooks");
  expect(receiver.received).toEqual([]);
});
