/** What the phone of a number's owner had before the number was connected: messages and names. */
import { beforeEach, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { wallet } from "../tools/wallet.ts";
import { webhooks } from "../tools/webhooks.ts";
import type { TestApp } from "./support/app.ts";
import { jpeg } from "./support/files.ts";
import {
  deliver,
  type GraphApi,
  type Inbox,
  inboundText,
  messagesChange,
  openWindow,
  useWhatsApp,
} from "./support/whatsapp.ts";

let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;
useWhatsApp((started) => {
  ({ graph, app, inbox } = started);
  graph.routes["GET 3001"] = () => ({ body: { url: `${graph.url}/file/content` } });
  graph.routes["GET content"] = () => ({ body: jpeg, headers: { "content-type": "image/jpeg" } });
});

const own = "16315555555";

/** A person of each test. */
let person = 14155557700;
let ids = 0;
beforeEach(() => {
  person += 1;
});

const hour = 3_600;
const at = (seconds: number) => String(Math.floor(app.now().getTime() / 1000) - seconds);
const iso = (timestamp: string) => new Date(Number(timestamp) * 1000).toISOString();

/** A message some seconds ago. */
function past(from: string, seconds: number, content: object, status = "READ") {
  ids += 1;
  const id = `wamid.past${ids}`;
  return { from, id, timestamp: at(seconds), type: "text", ...content, history_context: { status } };
}

const theirs = (body: string, seconds: number) => past(String(person), seconds, { text: { body } });
const ours = (body: string, seconds: number, status?: string) =>
  past(own, seconds, { text: { body } }, status);

const field = (name: string, value: object) => ({ field: name, value: messagesChange(value).value });

const history = (...all: readonly object[]) =>
  field("history", {
    history: [
      {
        metadata: { phase: 0, chunk_order: 1, progress: 55 },
        threads: [{ id: String(person), messages: all }],
      },
    ],
  });

const saved = (full_name: string, more: object = {}) =>
  field("smb_app_state_sync", {
    state_sync: [
      {
        type: "contact",
        action: "add",
        contact: { full_name, phone_number: `+${person}` },
        metadata: { timestamp: at(0) },
        ...more,
      },
    ],
  });

async function readConversation() {
  const { data } = await app.call(conversations.list_conversations, {});
  const found = data.find(({ phone_number }) => phone_number === `+${person}`);
  const conversation_id = found?.id ?? "";
  const listed = found ? (await app.call(messages.list_messages, { conversation_id })).data : [];
  return { id: conversation_id, found, listed };
}

async function readContact() {
  const { data } = await app.call(contacts.list_contacts, { search: String(person) });
  return data[0];
}

test("messages are shown in the order of their own times, once, and change nothing else", async () => {
  const { data: before } = await app.call(wallet.get_wallet, {});
  const { meta: start } = await app.call(webhooks.list_events, {});
  const wait = await app.call(messages.wait_for_message, { timeout_seconds: 0 });
  const all = [
    ours("Until six.", 2 * hour, "DELIVERED"),
    theirs("Thanks!", hour),
    theirs("Are you open?", 3 * hour),
    ours("Which canoe?", 30, "ERROR"),
  ];
  await deliver(app, inbox, history(...all));
  await deliver(app, inbox, history(...all));
  const { id, found, listed } = await readConversation();
  expect(
    listed.map(({ text, direction, status, imported, created_at }) => [
      text?.body,
      direction,
      status,
      imported,
      created_at,
    ]),
  ).toEqual([
    ["Which canoe?", "outbound", "failed", true, iso(all[3]?.timestamp ?? "")],
    ["Thanks!", "inbound", "received", true, iso(all[1]?.timestamp ?? "")],
    ["Until six.", "outbound", "delivered", true, iso(all[0]?.timestamp ?? "")],
    ["Are you open?", "inbound", "received", true, iso(all[2]?.timestamp ?? "")],
  ]);
  expect(listed[0]?.sent_by).toMatchObject({ type: "phone", id: inbox.id });
  expect(found).toMatchObject({ status: "closed", is_unread: false, unread_count: 0, waiting_since: null });
  const { data } = await app.call(conversations.get_conversation, { id });
  expect(data).toMatchObject({ last_user_message_at: null, is_within_24h_window: false, assigned_to: null });
  expect((await app.call(webhooks.list_events, { after: start.cursor })).data).toEqual([]);
  expect((await app.call(wallet.get_wallet, {})).data).toEqual(before);
  const next = { after: wait.meta.cursor, timeout_seconds: 0 };
  expect((await app.call(messages.wait_for_message, next)).data).toEqual([]);
  expect(graph.sent()).toEqual([]);
});

test("messages of a known contact come before what was written since, and leave the conversation", async () => {
  await openWindow(app, inbox, String(person));
  const { id } = await readConversation();
  const read = async () => (await app.call(conversations.get_conversation, { id })).data;
  const before = await read();
  await deliver(app, inbox, history(theirs("Long ago", 100 * hour)));
  expect((await readConversation()).listed.map(({ text }) => text?.body)).toEqual(["Hi", "Long ago"]);
  expect(await read()).toEqual(before);
});

test("a later message of the person opens the conversation again", async () => {
  await deliver(app, inbox, history(theirs("Long ago", 100 * hour)));
  await openWindow(app, inbox, String(person));
  const { found } = await readConversation();
  expect(found).toMatchObject({ status: "open", is_unread: true });
});

test("a quote of a past message is shown", async () => {
  const question = theirs("Are you open?", 3 * hour);
  const answer = { ...ours("Until six.", 2 * hour), context: { id: question.id } };
  await deliver(app, inbox, history(answer, question));
  const { listed } = await readConversation();
  expect(listed[0]?.reply_to).toBe(listed[1]?.id);
});

test("past messages are found by the search, also after it has read newer ones", async () => {
  await openWindow(app, inbox, String(person));
  await app.call(messages.search_messages, { query: "nothing" });
  await deliver(app, inbox, history(theirs("A heliotrope paddle", 100 * hour)));
  const { data } = await app.call(messages.search_messages, { query: "heliotrope" });
  expect(data.conversations).toHaveLength(1);
});

test("a file takes the place of its placeholder, before or after it", async () => {
  const image = { id: "3001", mime_type: "image/jpeg", caption: "Black prince" };
  const files = (all: readonly object[]) => field("history", { messages: all });
  const first = past(String(person), 3 * hour, { type: "media_placeholder" });
  const second = past(String(person), 2 * hour, { type: "media_placeholder" });
  const third = past(own, hour, { type: "media_placeholder" }, "PLAYED");
  await deliver(app, inbox, history(first));
  expect((await readConversation()).listed).toMatchObject([{ type: "unsupported" }]);
  // The report of our own file does not say to whom it was sent.
  await deliver(
    app,
    inbox,
    files(
      [first, second, third].map((one) => ({ ...one, type: "image", image, history_context: undefined })),
    ),
  );
  await deliver(app, inbox, history(second, third));
  await app.advanceTime(10_000);
  const { listed } = await readConversation();
  expect(listed.map(({ type, direction, media }) => [type, direction, media?.caption])).toEqual([
    ["image", "outbound", "Black prince"],
    ["image", "inbound", "Black prince"],
    ["image", "inbound", "Black prince"],
  ]);
  for (const { media } of listed) {
    const { pathname, search } = new URL(media?.url ?? "");
    expect((await app.fetch(pathname + search, { key: null })).status).toBe(200);
  }
});

test("reactions and edits of the past are left out, and history that is not shared imports nothing", async () => {
  const reaction = past(String(person), hour, {
    type: "reaction",
    reaction: { message_id: "wamid.past1", emoji: "👍" },
  });
  const errors = [{ code: 2593109, title: "History sync is turned off by the business" }];
  await deliver(app, inbox, history(reaction), field("history", { history: [{ errors }] }));
  expect((await readConversation()).found).toBe(undefined);
});

test("an erasure deletes the past messages, and those that wait", async () => {
  const image = { id: "3001", mime_type: "image/jpeg" };
  await deliver(app, inbox, history(theirs("Secret of the past", hour)));
  const { id } = (await readContact()) ?? { id: "" };
  await app.call(contacts.delete_contact, { id });
  await app.runDueJobs();
  const row = await app.server.database.queries
    .selectFrom("messages")
    .select(["content", "from"])
    .where("channel_message_id", "=", `wamid.past${ids}`)
    .executeTakeFirstOrThrow();
  expect(row).toEqual({ content: {}, from: null });
  // Nobody is named by the report of our own file.
  await deliver(app, inbox, field("history", { messages: [past(own, hour, { type: "image", image })] }));
  expect(await readContact()).toBe(undefined);
});

test("a saved name is given to a contact that has none, also later, and to nobody else", async () => {
  await deliver(app, inbox, saved("Ada of the canoes"));
  expect(await readContact()).toBe(undefined);
  await deliver(app, inbox, history(theirs("Hello", hour)));
  expect((await readContact())?.name).toBe(null);
  await app.advanceTime(10 * 60_000);
  expect((await readContact())?.name).toBe("Ada of the canoes");
  await deliver(app, inbox, saved("Someone else"));
  expect((await readContact())?.name).toBe("Ada of the canoes");
});

test("a long saved name is cut, and no character of it is halved", async () => {
  await openWindow(app, inbox, String(person));
  await deliver(app, inbox, saved(`${"n".repeat(254)}😀`));
  expect((await readContact())?.name).toBe("n".repeat(254));
});

test("a removed entry of the address book changes nothing", async () => {
  await openWindow(app, inbox, String(person));
  await deliver(app, inbox, saved("Ada", { action: "remove" }));
  expect((await readContact())?.name).toBe(null);
  const { id } = (await readContact()) ?? { id: "" };
  await app.call(contacts.update_contact, { id, name: "Chosen here" });
  await deliver(app, inbox, saved("Ada"));
  expect((await readContact())?.name).toBe("Chosen here");
});

test("one request may have thousands of past messages", async () => {
  const all = Array.from({ length: 1_001 }, (_, index) => theirs(`Message ${index}`, hour + index));
  expect(await deliver(app, inbox, history(...all))).toBe(200);
  const { count } = await app.server.database.queries
    .selectFrom("messages")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("from", "=", `+${person}`)
    .executeTakeFirstOrThrow();
  expect(Number(count)).toBe(1_001);
  const late = [inboundText("Now", { from: String(person), timestamp: at(0) })];
  await deliver(app, inbox, messagesChange({ messages: late }));
  expect((await readConversation()).listed[0]?.text?.body).toBe("Now");
});
