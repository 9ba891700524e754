/**
 * A channel without phone numbers, a window and receipts, which is asked for its messages: the platform
 * supports it by its capabilities, and has no code for it.
 */
import { expect, test } from "vitest";
import { z } from "zod";
import { modules } from "../src/platform/index.ts";
import { contacts } from "../tools/contacts.ts";
import type { InputOf } from "../tools/contract/index.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { mcp } from "../tools/mcp.ts";
import { messages } from "../tools/messages/index.ts";
import { startTestApp, type TestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createFlowHelpers, say } from "./support/flows.ts";
import {
  channelName,
  type HandleChannel,
  HandleCredentials,
  openHandleChannel,
  pollIntervalMs,
  shopCredentials,
} from "./support/handle-channel.ts";
import { meanwhile } from "./support/meanwhile.ts";

/** What a new channel changes in the contract: its name, and the credentials of its accounts. */
const createInbox = {
  ...inboxes.create_inbox,
  input: z.object({
    ...inboxes.create_inbox.input.shape,
    channel: z.literal(channelName),
    credentials: HandleCredentials,
  }),
};

const { inboxes: module, ...otherModules } = modules;
const enabledModules = {
  ...otherModules,
  ...(module && { inboxes: { ...module, contract: { ...module.contract, create_inbox: createInbox } } }),
};

const shop = {
  name: "Shop",
  channel: channelName,
  phone_number: shopCredentials.handle,
  credentials: shopCredentials,
} as const;

async function startHandleApp() {
  let app: TestApp | undefined;
  const provider = openHandleChannel(() => app?.now() ?? new Date());
  app = await startTestApp({ enabledModules, otherChannels: { [channelName]: provider.channel } });
  return { app, provider, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

async function startShop() {
  const { app, provider, ...started } = await startHandleApp();
  const { data: inbox } = await app.call(createInbox, shop);
  // The first request comes within a minute.
  await app.advanceTime(60_000);
  return { app, provider, inbox, ...started };
}

async function receive(app: TestApp, provider: HandleChannel, text: string, from = "@ana") {
  provider.write(from, text);
  await app.advanceTime(pollIntervalMs);
  const { data } = await app.call(conversations.list_conversations, {});
  const [conversation] = data;
  if (!conversation) {
    throw new Error("no conversation");
  }
  return conversation;
}

async function messagesOf(app: TestApp, conversation_id: string) {
  const { data } = await app.call(messages.list_messages, { conversation_id });
  return data.map(({ direction, text, status }) => [direction, text?.body, status]).reverse();
}

const textOf = (body: string) => ({ type: "text", text: { body } }) as const;

test("an inbox is connected with its account, and is not called by the provider", async () => {
  await using started = await startHandleApp();
  const { app } = started;
  const { data: inbox } = await app.call(createInbox, shop);
  expect(inbox).toMatchObject({
    channel: channelName,
    platform: "handles",
    phone_number: "@shop",
    simulated: false,
    callback_url: null,
    health: { status: "ok" },
  });
  const { data: listed } = await app.call(inboxes.list_inboxes, {});
  expect(listed.map(({ id }) => id)).toContain(inbox.id);
  const path = `/webhooks/${channelName}/${inbox.organization_id}/${inbox.id}`;
  const answer = await app.fetch(path, { method: "POST", key: null, json: {} });
  expect(await answer.json()).toMatchObject({ error: { code: "webhook_not_signed" } });
});

test.each<[string, Partial<InputOf<typeof createInbox>>, string, string]>([
  [
    "wrong credentials",
    { credentials: { handle: "@shop", token: "x" } },
    "credentials_rejected",
    "credentials.token",
  ],
  ["an address of another kind", { phone_number: "+14155550123" }, "address_not_supported", "phone_number"],
])("an inbox with %s is not created", async (_, changed, code, param) => {
  await using started = await startHandleApp();
  const failure = await expectFailure(started.app.call(createInbox, { ...shop, ...changed }));
  expect(failure).toMatchObject({ status: 422, code, error: { param } });
});

test("messages are fetched page by page, each stored once and in order", async () => {
  await using started = await startShop();
  const { app, provider } = started;
  provider.write("@ana", "one");
  provider.write("@ana", "two");
  provider.write("@ana", "three");
  const { id } = await receive(app, provider, "four");
  provider.faults.repeatsPages = true;
  await app.advanceTime(pollIntervalMs);
  expect(await messagesOf(app, id)).toEqual([
    ["inbound", "one", "received"],
    ["inbound", "two", "received"],
    ["inbound", "three", "received"],
    ["inbound", "four", "received"],
  ]);
  // The last request repeats no page of the provider: its cursor is stored.
  expect(provider.polls).toEqual([null, "0", "2", "4"]);
});

test("a provider that is down is asked again, and nothing is lost", async () => {
  await using started = await startShop();
  const { app, provider } = started;
  provider.faults.isDown = true;
  provider.write("@ana", "during the outage");
  await app.advanceTime(120_000);
  provider.faults.isDown = false;
  await app.advanceTime(30_000);
  const { data } = await app.call(conversations.list_conversations, {});
  expect(data).toHaveLength(1);
});

test("a contact has no number, is named by the handle, and one contact by each handle", async () => {
  await using started = await startShop();
  const { app, provider } = started;
  const conversation = await receive(app, provider, "Hello");
  expect(conversation).toMatchObject({ phone_number: null, platform: "handles" });
  await receive(app, provider, "Me too", "@ben");
  await receive(app, provider, "Again");
  const { data: people } = await app.call(contacts.list_contacts, {});
  expect(people).toHaveLength(2);
});

test("an answer is final once it is sent, and costs nothing", async () => {
  await using started = await startShop();
  const { app, provider, inbox } = started;
  const { id, contact_id } = await receive(app, provider, "Hello");
  for (const to of [id, contact_id, "@ana"]) {
    const { data: sent } = await app.call(messages.send_message, { to, ...textOf("Hi") });
    expect(sent).toMatchObject({ conversation_id: id, to: "@ana" });
    await app.runDueJobs();
    const message = await app.call(messages.get_message, { conversation_id: id, message_id: sent.id });
    expect(message.data).toMatchObject({ status: "sent", error: null, price: null });
  }
  expect(provider.sent).toHaveLength(3);
  expect(provider.sent[0]).toMatchObject({
    from: "@shop",
    to: { kind: "handle", value: "@ana" },
    account: { account_id: "@shop", credentials: shopCredentials },
    content: textOf("Hi"),
  });
  expect(inbox.id).toBe((await app.call(conversations.get_conversation, { id })).data.inbox_id);
});

test("the tool answers too, quotes a message, and waits until it is sent", async () => {
  await using started = await startShop();
  const { app, provider } = started;
  const { id } = await receive(app, provider, "Are you open?");
  const { data: listed } = await app.call(messages.list_messages, { conversation_id: id });
  const args = { to: id, body: "We are.", reply_to: listed[0]?.id ?? "", wait_seconds: 10 };
  const call = app.call(mcp.call_mcp_tool, { name: "send_message", arguments: args });
  const isSent = async () => {
    await app.runDueJobs();
    return provider.sent.length === 1;
  };
  const { data } = await meanwhile(call, () => expect.poll(isSent).toBe(true));
  expect(data).toMatchObject({ status: "sent", to: "@ana" });
  expect(provider.sent[0]).toMatchObject({ reply_to: "received_1", content: textOf("We are.") });
});

test("a flow answers a keyword", async () => {
  await using started = await startShop();
  const { app, provider } = started;
  await createFlowHelpers(app).create([say("Which order?")]);
  const { id } = await receive(app, provider, "hi");
  await app.runDueJobs();
  expect(await messagesOf(app, id)).toEqual([
    ["inbound", "hi", "received"],
    ["outbound", "Which order?", "sent"],
  ]);
});

test("the context allows what the channel can do, and warns of no window", async () => {
  await using started = await startShop();
  const { app, provider } = started;
  const { id } = await receive(app, provider, "Hello");
  await app.advanceTime(48 * 3_600_000);
  const { data } = await app.call(messages.get_conversation_context, { id });
  expect(data.warnings).toEqual([]);
  expect(data.messages).toHaveLength(1);
  const allowed = Object.fromEntries(data.actions.map(({ tool, is_allowed }) => [tool, is_allowed]));
  expect(allowed).toMatchObject({
    send_message: true,
    send_media_message: false,
    send_interactive_message: false,
    send_template_message: false,
    wait_for_message: true,
  });
  const { data: sent } = await app.call(messages.send_message, { to: id, ...textOf("Still there?") });
  expect(sent).not.toHaveProperty("warnings");
});

test("a stop word is confirmed, and an opt-out that the channel reports without a code is kept", async () => {
  await using started = await startShop();
  const { app, provider } = started;
  const { contact_id } = await receive(app, provider, "STOP");
  await app.runDueJobs();
  expect(provider.sent).toHaveLength(1);
  const isOptedOut = async () => (await app.call(contacts.get_contact, { id: contact_id })).data.opted_out;
  expect(await isOptedOut()).toBe(true);
  await receive(app, provider, "START");
  expect(await isOptedOut()).toBe(false);
  const failure = {
    reason: "marketing_opt_out",
    channel_code: null,
    title: "Opted out",
    detail: null,
  } as const;
  provider.faults.failure = failure;
  const { data } = await app.call(messages.send_message, { to: "@ana", ...textOf("News") });
  await app.runDueJobs();
  const { conversation_id, id: message_id } = data;
  expect((await app.call(messages.get_message, { conversation_id, message_id })).data.error).toMatchObject({
    code: "marketing_opt_out",
    channel_code: null,
    title: "Opted out",
  });
  expect(await isOptedOut()).toBe(true);
});

test("an address is sent to from an inbox whose channel can reach it", async () => {
  await using started = await startShop();
  const { app, provider, inbox } = started;
  await receive(app, provider, "Hello");
  const { data } = await app.call(messages.send_message, { to: "+14155550123", ...textOf("Hi") });
  expect(data).toMatchObject({ to: "+14155550123", simulated: true });
  const number = { to: "+14155550123", inbox_id: inbox.id, ...textOf("Hi") };
  expect(await expectFailure(app.call(messages.send_message, number))).toMatchObject({
    status: 422,
    code: "address_not_supported",
    error: { param: "to" },
  });
  const named = { to: data.contact.id, inbox_id: inbox.id, ...textOf("Hi") };
  expect(await expectFailure(app.call(messages.send_message, named))).toMatchObject({
    code: "contact_unreachable",
  });
  const stranger = app.call(messages.send_message, { to: "@stranger", ...textOf("Hi") });
  expect(await expectFailure(stranger)).toMatchObject({ status: 404, code: "contact_not_found" });
});
