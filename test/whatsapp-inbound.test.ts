/** What webhooks of Meta do: files, originals, hidden numbers, other numbers of the app, locked accounts. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import type { TestApp } from "./support/app.ts";
import { jpeg } from "./support/files.ts";
import { startUpstream } from "./support/scripted-service.ts";
import {
  createWhatsAppInbox,
  credentials,
  deliver,
  envelope,
  type GraphApi,
  type Inbox,
  inboundText,
  messagesChange,
  postWebhook,
  useWhatsApp,
} from "./support/whatsapp.ts";

const day = 24 * 3_600_000;
let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;
useWhatsApp((started) => {
  ({ graph, app, inbox } = started);
  graph.routes["GET 1003383421387256"] = () => ({ body: { url: `${graph.url}/file/content` } });
  graph.routes["GET content"] = () => ({ body: jpeg, headers: { "content-type": "image/jpeg" } });
});

const stored = () => app.server.database.queries.selectFrom("messages").selectAll().orderBy("id").execute();

/** The newest message, as the API shows it. */
async function newest() {
  const row = (await stored()).at(-1);
  const { conversation_id = "", id: message_id = "" } = row ?? {};
  return (await app.call(messages.get_message, { conversation_id, message_id })).data;
}

/** Runs every attempt at a job that fails. */
async function attemptAll() {
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    await app.advanceTime(600_000);
  }
}

const image = (id: string, more: object = {}) => ({
  ...inboundText("", { type: "image", from: "14155550140", ...more }),
  image: { id, mime_type: "image/jpeg", sha256: "x", caption: "Look" },
});

test("a message that arrives late is unread for who has read the conversation meanwhile", async () => {
  const [key, from] = [await app.signOwner(), "14155550177"];
  const write = async (body: string, at: Date) => {
    const message = inboundText(body, { from, timestamp: String(Math.floor(at.getTime() / 1_000)) });
    await deliver(app, inbox, messagesChange({ messages: [message] }));
  };
  const writtenAt = app.now();
  await write("Hello?", writtenAt);
  await app.advanceTime(60_000);
  const { conversation_id: id } = await newest();
  await app.call(conversations.update_conversation, { id, is_unread: false }, { key });
  await app.advanceTime(1_000);
  await write("Is anybody there?", writtenAt);
  const { data } = await app.call(conversations.get_conversation, { id }, { key });
  expect(data).toMatchObject({ is_unread: true, is_unread_by_me: true });
});

describe("a file", () => {
  test("is copied into our store, with a link that is renewed with each answer", async () => {
    await deliver(app, inbox, messagesChange({ messages: [image("1003383421387256")] }));
    const first = await newest();
    const response = await app.fetch(first.media?.url.replace("https://tidings.example", "") ?? "", {
      key: null,
    });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(jpeg);
    await app.advanceTime(8 * day);
    const later = (await newest()).media?.url.replace("https://tidings.example", "") ?? "";
    expect((await app.fetch(later, { key: null })).status).toBe(200);
  });

  test("on another host is not fetched, and the token is not sent there", async () => {
    await using other = await startUpstream([{ body: jpeg, headers: { "content-type": "image/jpeg" } }]);
    graph.routes["GET 2002"] = () => ({ body: { url: `${other.url}/x` } });
    await deliver(app, inbox, messagesChange({ messages: [image("2002")] }));
    await attemptAll();
    expect(await newest()).toMatchObject({
      type: "unsupported",
      unsupported: { type: "image" },
    });
    expect(other.requests).toEqual([]);
  });

  test("that Meta does not have any more leaves the message as unsupported at once", async () => {
    await deliver(app, inbox, messagesChange({ messages: [image("404404")] }));
    expect(await newest()).toMatchObject({ type: "unsupported", unsupported: { type: "image" } });
  });

  test("is fetched again after an error, before what the person wrote next", async () => {
    const responses = [{ status: 500, body: "" }];
    graph.routes["GET 2003"] = () => responses.pop() ?? { body: { url: `${graph.url}/file/content` } };
    const change = messagesChange({
      messages: [image("2003"), inboundText("next", { from: "14155550140" })],
    });
    await deliver(app, inbox, change);
    await attemptAll();
    const { conversation_id } = await newest();
    const { data } = await app.call(messages.list_messages, { conversation_id, per_page: 2 });
    expect(data.map(({ type }) => type)).toEqual(["text", "image"]);
  });

  test("is deleted with its contact, as is what the channel sent besides", async () => {
    await deliver(
      app,
      inbox,
      messagesChange({ messages: [image("1003383421387256", { from: "14155550141" })] }),
      messagesChange({
        messages: [inboundText("", { type: "order", from: "14155550141", order: { secret: "plans" } })],
      }),
    );
    const { conversation_id } = await newest();
    const { data } = await app.call(messages.list_messages, { conversation_id });
    const url = data.at(-1)?.media?.url.replace("https://tidings.example", "") ?? "";
    const { data: conversation } = await app.call(conversations.get_conversation, { id: conversation_id });
    await app.call(contacts.delete_contact, { id: conversation.contact_id });
    await app.runDueJobs();
    expect((await app.fetch(url, { key: null })).status).toBe(404);
    const kept = await app.server.database.queries.selectFrom("messages").select("content").execute();
    expect(JSON.stringify(kept)).not.toContain("plans");
  });
});

describe("a message in whose last attempt the process died", () => {
  const from = "14155550142";
  const dead = () =>
    app.server.database.queries
      .selectFrom("dead_jobs")
      .select("payload")
      .where("name", "=", "message.receive")
      .orderBy("died_at")
      .execute();

  /**
   * Delivers messages, the attempts at the first of which are over. Returns what has moved to
   * the dead-letter queue.
   */
  async function die(...all: readonly object[]) {
    const before = await dead();
    await postWebhook(app, inbox, { body: JSON.stringify(envelope(messagesChange({ messages: all }))) });
    await sql`
      update jobs set attempts = 8 where id = (select min(id) from jobs where name = 'message.receive')
    `.execute(app.server.database.queries);
    await app.runDueJobs();
    return (await dead()).slice(before.length);
  }

  test("is stored without its file, before what the person wrote next", async () => {
    expect(await die(image("1003383421387256", { from }), inboundText("next", { from }))).toHaveLength(1);
    const { conversation_id } = await newest();
    const { data } = await app.call(messages.list_messages, { conversation_id, per_page: 2 });
    expect(data.map(({ type }) => type)).toEqual(["text", "unsupported"]);
    const { id: message_id = "" } = data[1] ?? {};
    const { data: first } = await app.call(messages.get_message, { conversation_id, message_id });
    expect(first).toMatchObject({
      unsupported: { type: "image" },
      channel_data: { image: { id: "1003383421387256", caption: "Look" } },
    });
  });

  test("stays in the dead-letter queue if it can't be stored", async () => {
    const fault = sql`alter table messages add constraint fault check (content #>> '{text,body}' <> 'fault')`;
    await fault.execute(app.server.database.queries);
    const moved = await die(inboundText("fault", { from }), inboundText("after", { from }));
    await sql`alter table messages drop constraint fault`.execute(app.server.database.queries);
    expect(moved).toMatchObject([{ payload: { message: { content: { text: { body: "fault" } } } } }]);
    expect(await newest()).toMatchObject({ text: { body: "after" } });
  });
});

test("what the channel sent of an unsupported message is kept with it", async () => {
  const order = { n: 1 };
  await deliver(app, inbox, messagesChange({ messages: [inboundText("", { type: "order", order })] }));
  await app.advanceTime(30 * day);
  expect(await newest()).toMatchObject({ unsupported: { type: "order" }, channel_data: { order } });
});

test("a person who hides the number is known by the channel's id, with the username", async () => {
  const user_id = "US.24817305912873645000";
  const profile = { name: "Ann", username: "ann.lee" };
  const message = inboundText("Hi", { from: undefined, from_user_id: user_id });
  await deliver(app, inbox, messagesChange({ contacts: [{ profile, user_id }], messages: [message] }));
  const { data } = await app.call(conversations.get_conversation, { id: (await newest()).conversation_id });
  const { data: contact } = await app.call(contacts.get_contact, { id: data.contact_id });
  expect(contact).toMatchObject({ name: "Ann", bsuid: user_id, username: "ann.lee" });
});

test("a long name or username is cut, and no character of it is halved", async () => {
  const user_id = "US.24817305912873645001";
  const profile = { name: `${"n".repeat(254)}😀`, username: `${"u".repeat(63)}😀` };
  const message = inboundText("Hi", { from: undefined, from_user_id: user_id });
  await deliver(app, inbox, messagesChange({ contacts: [{ profile, user_id }], messages: [message] }));
  const { data } = await app.call(conversations.get_conversation, { id: (await newest()).conversation_id });
  const { data: contact } = await app.call(contacts.get_contact, { id: data.contact_id });
  expect(contact).toMatchObject({ name: "n".repeat(254), username: "u".repeat(63) });
});

test("what another number of the app receives goes to its inbox, whichever address it was sent to", async () => {
  const phone_number_id = "777000777";
  graph.routes["GET phone_numbers"] = () => ({
    body: { data: [{ id: phone_number_id, display_phone_number: "+1 631-555-5559" }] },
  });
  const second = await createWhatsAppInbox(app, {
    phone_number: "+16315555559",
    credentials: { ...credentials, phone_number_id },
  });
  const value = { metadata: { phone_number_id }, messages: [inboundText("to the second")] };
  await deliver(app, inbox, { field: "messages", value });
  expect(await newest()).toMatchObject({ to: "+16315555559", text: { body: "to the second" } });
  const { data } = await app.call(conversations.get_conversation, { id: (await newest()).conversation_id });
  expect(data.inbox_id).toBe(second.id);
});

test("a locked account stops its inboxes, until it is reinstated", async () => {
  const state = async (waba_ban_state: string) => {
    await deliver(app, inbox, { field: "account_update", value: { ban_info: { waba_ban_state } } });
    const { data } = await app.call(inboxes.list_inboxes, {});
    return data.find(({ id }) => id === inbox.id)?.health.status;
  };
  expect(await state("DISABLE")).toBe("stopped");
  expect(await state("REINSTATE")).toBe("ok");
});
