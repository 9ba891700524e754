/**
 * Suspended organizations: every credential is rejected at once, jobs wait, and what customers
 * write is still stored.
 */
import { describe, expect, test } from "vitest";
import { implement } from "../src/platform/foundation/kernel/module.ts";
import { receiveMessage } from "../src/platform/inbox/messages/index.ts";
import { modules } from "../src/platform/index.ts";
import { auth } from "../tools/auth.ts";
import { contacts } from "../tools/contacts.ts";
import { messages } from "../tools/messages/index.ts";
import { operator } from "../tools/operator.ts";
import { uploads } from "../tools/uploads.ts";
import { webhooks } from "../tools/webhooks.ts";
import { startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { connectAssistant } from "./support/assistant.ts";
import { lendTestDatabase } from "./support/database.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { asOperator, createOrganizationFor, resume, suspend } from "./support/operator.ts";
import { requestLogin, signIn, trustedProxyEnv } from "./support/users.ts";
import { startWaiting } from "./support/waiting.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";

/** A channel that delivers over HTTP without a credential of the organization, as real ones do. */
const inboundChannel = implement(
  {},
  {
    operations: {},
    routes: [
      {
        methods: ["POST"],
        path: "/scripted/inbound/{organization}",
        credential: "none",
        body: "none",
        handle: async ({ params: { organization = "" } }, world) => ({
          status: 200,
          body: await receiveMessage(world, {
            organization_id: organization,
            channel: "simulator",
            channel_message_id: `in_${organization}`,
            from: { phone: "+14155550123" },
            to: null,
            name: null,
            occurred_at: world.now().toISOString(),
            content: { type: "text", text: { body: "Are you there?" } },
          }),
        }),
      },
    ],
  },
);

const app = useTestApp({
  env: { ...trustedProxyEnv, TIDINGS_ALLOW_LOCAL_WEBHOOKS: "true" },
  enabledModules: { ...modules, "inbound-channel": inboundChannel },
});

const suspended = {
  status: 403,
  code: "organization_suspended",
  error: { type: "permission", fix: "Contact the operator of this service." },
};
const list = (key: string) => app.call(contacts.list_contacts, {}, { key });
const send = (key: string, to = "+14155550123") =>
  app.call(messages.send_message, { to, type: "text", text: { body: "hello" } }, { key });

interface SentMessage {
  readonly id: string;
  readonly conversation_id: string;
}

async function read(on: TestApp, key: string, { id, conversation_id }: SentMessage) {
  return (await on.call(messages.get_message, { conversation_id, message_id: id }, { key })).data;
}

describe("while an organization is suspended", () => {
  test("its keys and access tokens are rejected at the next request, and work again after it", async () => {
    const { id, key, email, password } = await createOrganizationFor(app, "One");
    const other = await createOrganizationFor(app, "Other");
    const { access_token } = await signIn(app, email, password);
    await list(key);
    await list(access_token);
    await suspend(app, id);
    for (const credential of [key, access_token]) {
      expect(await expectFailure(list(credential))).toMatchObject(suspended);
    }
    expect((await list(other.key)).data).toEqual([]);
    await resume(app, id);
    await list(key);
    await list(access_token);
  });

  test("a key that no request used before is rejected the same way", async () => {
    const { id, key } = await createOrganizationFor(app, "Unused");
    await suspend(app, id);
    expect(await expectFailure(list(key))).toMatchObject(suspended);
    await resume(app, id);
    await list(key);
  });

  test("nobody signs in, refreshes or changes a password", async () => {
    const { id, email, password } = await createOrganizationFor(app, "Signed in");
    const { refresh_token } = await signIn(app, email, password);
    await suspend(app, id);
    const new_password = "another long password";
    const login = await requestLogin(app, email, password);
    expect(await login.json()).toMatchObject({ error: { code: "organization_suspended" } });
    expect(await expectFailure(app.call(auth.refresh, { refresh_token }))).toMatchObject(suspended);
    const change = app.call(auth.change_password, { email, password, new_password });
    expect(await expectFailure(change)).toMatchObject(suspended);
    const wrong = await requestLogin(app, email, "a wrong password");
    expect(await wrong.json()).toMatchObject({ error: { code: "login_failed" } });
    await resume(app, id);
    expect((await app.call(auth.refresh, { refresh_token })).data.user.email).toBe(email);
  });

  test("its assistants are rejected at /mcp", async () => {
    const { id, key } = await createOrganizationFor(app, "Assistant");
    await using assistant = await connectAssistant(app, key);
    await assistant.call("list_contacts", {});
    await suspend(app, id);
    await expect(assistant.client.callTool({ name: "list_contacts", arguments: {} })).rejects.toThrow(
      "organization_suspended",
    );
    await expect(connectAssistant(app, key)).rejects.toThrow("organization_suspended");
    await resume(app, id);
    await assistant.call("list_contacts", {});
  });

  test("a call that waits for messages ends", async () => {
    const { id, key } = await createOrganizationFor(app, "Waits");
    const wait = () => app.call(messages.wait_for_message, { timeout_seconds: 20 }, { key });
    const { answer } = await startWaiting(() => expectFailure(wait()));
    await suspend(app, id);
    expect(await answer).toMatchObject(suspended);
  });

  test("links to its files do not work", async () => {
    const { id, key } = await createOrganizationFor(app, "Files");
    const file = { content_base64: Buffer.from("phone\n+14155550199\n").toString("base64") };
    const { data } = await app.call(uploads.upload_file, { ...file, file_name: "a.csv" }, { key });
    const statusOf = async () => (await fetch(data.storage_url)).status;
    expect(await statusOf()).toBe(200);
    await suspend(app, id);
    expect(await statusOf()).toBe(404);
    await resume(app, id);
    expect(await statusOf()).toBe(200);
  });

  test("the operator sees since when and why; another reason replaces the first", async () => {
    const { id } = await createOrganizationFor(app, "Seen");
    const { data } = await app.call(operator.suspend_organization, { id, reason: "Unpaid" }, asOperator);
    const since = app.now().toISOString();
    expect(data).toMatchObject({ status: "suspended", suspended_at: since, suspension_reason: "Unpaid" });
    expect(data.name).toBe("Seen");
    await app.advanceTime(1_000);
    await app.call(operator.suspend_organization, { id, reason: "Abuse" }, asOperator);
    const listed = await app.call(
      operator.list_organizations,
      { status: "suspended", search: "Seen" },
      asOperator,
    );
    expect(listed.data).toMatchObject([{ id, suspended_at: since, suspension_reason: "Abuse" }]);
    const resumed = await app.call(operator.resume_organization, { id }, asOperator);
    expect(resumed.data).toMatchObject({ status: "active", suspended_at: null, suspension_reason: null });
  });
});

describe("the work of a suspended organization", () => {
  const statusOf = async (key: string, message: SentMessage) => (await read(app, key, message)).status;

  test("waits until it is resumed: messages are not sent; those of others are", async () => {
    const { id, key } = await createOrganizationFor(app, "Sends");
    const other = await createOrganizationFor(app, "Sends too");
    const { data: message } = await send(key);
    await suspend(app, id);
    const { data: others } = await send(other.key);
    await app.advanceTime(3_600_000);
    expect(await statusOf(other.key, others)).toBe("delivered");
    const row = await app.server.database.queries
      .selectFrom("messages")
      .select("status")
      .where("id", "=", message.id)
      .executeTakeFirstOrThrow();
    expect(row.status).toBe("queued");
    await resume(app, id);
    await app.advanceTime(60_000);
    expect(await statusOf(key, message)).toBe("delivered");
  });

  test("keeps the receipts and the customers' messages that arrive meanwhile, and delivers its webhooks after it", async () => {
    const { id, key } = await createOrganizationFor(app, "Receives");
    await using receiver = await startWebhookReceiver();
    const events = ["message.received" as const, "message.delivered" as const];
    const { data: webhook } = await app.call(webhooks.create_webhook, { url: receiver.url, events }, { key });
    receiver.secret = webhook.signing_secret;
    const faults = { method: "PUT", key, json: { receipt_delay_ms: 10_000 } };
    expect((await app.fetch("/simulator/faults", faults)).status).toBe(200);
    const { data: message } = await send(key);
    await app.runDueJobs();
    await suspend(app, id);
    await app.advanceTime(60_000);
    const inbound = await app.fetch(`/scripted/inbound/${id}`, { method: "POST", key: null });
    expect(inbound.status).toBe(200);
    const { message_id, conversation_id } = (await inbound.json()) as Record<string, string>;
    await app.advanceTime(3_600_000);
    expect(receiver.received).toEqual([]);
    await resume(app, id);
    expect(await statusOf(key, message)).toBe("delivered");
    const received = await read(app, key, { id: message_id ?? "", conversation_id: conversation_id ?? "" });
    expect(received.text).toEqual({ body: "Are you there?" });
    await app.advanceTime(1_000);
    expect(receiver.received.map(({ event }) => event.type).sort()).toEqual([...events].sort());
  });
});

test("a suspension holds at once in every process of the database, for requests and for jobs", {
  tags: "postgres",
}, async () => {
  await using database = await lendTestDatabase();
  await using one = await startTestApp({ database });
  await using two = await startTestApp({ database, startsAt: one.now() });
  const { id, key } = await createOrganizationFor(one, "Two processes");
  await two.call(contacts.list_contacts, {}, { key });
  const input = { to: "+14155550123", type: "text", text: { body: "hello" } } as const;
  const { data: message } = await two.call(messages.send_message, input, { key });
  await suspend(one, id);
  expect(await expectFailure(two.call(contacts.list_contacts, {}, { key }))).toMatchObject(suspended);
  await two.advanceTime(3_600_000);
  await resume(one, id);
  expect((await read(two, key, message)).status).toBe("queued");
  await two.advanceTime(60_000);
  expect((await read(one, key, message)).status).toBe("delivered");
});

test("the credentials of a suspended organization are limited like those of others, not like guesses", async () => {
  await using limited = await startTestApp({
    env: { TIDINGS_RATE_LIMIT: "1", TIDINGS_RATE_BURST: "40" },
  });
  const { id, key } = await createOrganizationFor(limited, "Limited");
  await suspend(limited, id);
  const statuses: number[] = [];
  for (let times = 0; times < 41; times += 1) {
    statuses.push((await limited.fetch("/v1/contacts", { key })).status);
  }
  expect(statuses).toEqual([...Array.from({ length: 40 }, () => 403), 429]);
});
