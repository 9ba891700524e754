/** Persons who get another number on WhatsApp, and reports that come again after that or after an erasure. */
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import type { TestApp } from "./support/app.ts";
import { jpeg } from "./support/files.ts";
import {
  deliver,
  type GraphApi,
  type Inbox,
  inboundText,
  messagesChange,
  useWhatsApp,
} from "./support/whatsapp.ts";

let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;
useWhatsApp((started) => {
  ({ graph, app, inbox } = started);
  graph.routes["GET content"] = () => ({ body: jpeg, headers: { "content-type": "image/jpeg" } });
});

/** The newest message, as the API shows it. */
async function newest() {
  const { conversation_id, id: message_id } = await app.server.database.queries
    .selectFrom("messages")
    .select(["conversation_id", "id"])
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirstOrThrow();
  return (await app.call(messages.get_message, { conversation_id, message_id })).data;
}

async function contactOf() {
  const { data } = await app.call(conversations.get_conversation, { id: (await newest()).conversation_id });
  return (await app.call(contacts.get_contact, { id: data.contact_id })).data;
}

/** Runs every attempt at a job that fails. */
async function attemptAll() {
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    await app.advanceTime(600_000);
  }
}

const image = (id: string, more: object) => ({
  ...inboundText("", { type: "image", ...more }),
  image: { id, mime_type: "image/jpeg", sha256: "x" },
});

const moved = (from: string, to: string) =>
  inboundText("", {
    type: "system",
    from,
    system: { type: "user_changed_number", wa_id: to, user_id: `US.${to}`, body: "changed" },
  });

test("a person with a new number and id keeps the conversation", async () => {
  const old = { from: "14155550150", from_user_id: "US.1350" };
  await deliver(app, inbox, messagesChange({ messages: [inboundText("before", old)] }));
  const before = await contactOf();
  const system = moved("14155550150", "14155550151");
  const now = { from: "14155550151", from_user_id: "US.14155550151" };
  await deliver(app, inbox, messagesChange({ messages: [system, inboundText("after", now)] }));
  await deliver(app, inbox, messagesChange({ messages: [system] }));
  expect(await contactOf()).toMatchObject({
    id: before.id,
    phone_number: "+14155550151",
    bsuid: "US.14155550151",
  });
  // Somebody else may get the former number.
  const next = { from: "14155550150", from_user_id: "US.9999" };
  await deliver(app, inbox, messagesChange({ messages: [inboundText("hello", next)] }));
  expect((await contactOf()).id).not.toBe(before.id);
});

test("a person with a new number is found by it and by the name, and not by the former number", async () => {
  const [from, to] = ["14155550152", "14155550153"];
  const before = inboundText("before", { from });
  const contact = { wa_id: from, profile: { name: "Zoë Moves" } };
  await deliver(app, inbox, messagesChange({ messages: [before], contacts: [contact] }));
  await deliver(app, inbox, messagesChange({ messages: [moved(from, to)] }));
  const find = async (search: string) =>
    (await app.call(contacts.list_contacts, { search })).data.map(({ phone_number }) => phone_number);
  expect(await Promise.all(["zoe moves", to, from].map(find))).toEqual([[`+${to}`], [`+${to}`], []]);
});

test("the conversation is kept in each order of the reports before, of and after the change", async () => {
  const numbers = (last: number) => [`1415555${last}`, `1415555${last + 1}`] as const;
  const texts = async () => {
    const { conversation_id } = await newest();
    const { data } = await app.call(messages.list_messages, { conversation_id });
    return data.map(({ type, text }) => text?.body ?? type);
  };
  const [a, b] = numbers(2000);
  const written = [inboundText("after", { from: b }), moved(a, b), inboundText("before", { from: a })];
  await deliver(app, inbox, messagesChange({ messages: written }));
  await app.advanceTime(2_000);
  expect(await texts()).toEqual(["after", "before"]);

  // The change waits for a file, what comes after it for the change.
  const responses = [{ status: 500, body: "" }];
  graph.routes["GET 2004"] = () => responses.pop() ?? { body: { url: `${graph.url}/file/content` } };
  const [c, d] = numbers(3000);
  const [e] = numbers(3010);
  const reports = [image("2004", { from: c }), moved(c, d), inboundText("one", { from: d })];
  for (const report of [...reports, moved(d, e), inboundText("two", { from: e })]) {
    await deliver(app, inbox, messagesChange({ messages: [report] }));
  }
  await attemptAll();
  expect(await texts()).toEqual(["two", "one", "image"]);
});

test("an edit from the new number may come before the change", async () => {
  const [from, to] = ["14155554020", "14155554021"];
  const own = inboundText("Helo", { from });
  await deliver(app, inbox, messagesChange({ messages: [own] }));
  const message = { type: "text", text: { body: "Hello" } };
  const edit = { type: "edit", edit: { original_message_id: own.id, message } };
  await deliver(app, inbox, messagesChange({ messages: [inboundText("", { from: to, ...edit })] }));
  await deliver(app, inbox, messagesChange({ messages: [moved(from, to)] }));
  await app.advanceTime(2_000);
  expect(await newest()).toMatchObject({ text: { body: "Hello" } });
});

test("a choice about marketing may come with the change", async () => {
  const [from, to] = ["14155554000", "14155554001"];
  await deliver(app, inbox, messagesChange({ messages: [inboundText("before", { from })] }));
  const before = await contactOf();
  const user_preferences = [
    { wa_id: to, category: "marketing_messages", value: "stop", timestamp: 1772998030 },
  ];
  const preference = { ...messagesChange({ user_preferences }), field: "user_preferences" };
  await deliver(app, inbox, preference, messagesChange({ messages: [moved(from, to)] }));
  const { data } = await app.call(contacts.get_contact, { id: before.id });
  expect(data).toMatchObject({ phone_number: `+${to}`, opted_out: true });
});

test("a report without a new number or id changes nothing", async () => {
  const from = "14155554010";
  await deliver(app, inbox, messagesChange({ messages: [inboundText("before", { from })] }));
  const system = { type: "user_changed_number", body: "changed" };
  const report = inboundText("", { type: "system", from, system });
  await deliver(app, inbox, messagesChange({ messages: [report] }));
  await attemptAll();
  expect(await contactOf()).toMatchObject({ phone_number: `+${from}` });
  const dead = await app.server.database.queries.selectFrom("dead_jobs").select("name").execute();
  expect(dead.map(({ name }) => name)).not.toContain("contact.move");
});

test("a message that is reported again after an erasure or a change of the number has no effect", async () => {
  const [from, to] = ["14155554030", "14155554031"];
  const both = [inboundText("one", { from }), inboundText("two", { from })];
  const count = async () => {
    const { data } = await app.call(conversations.list_conversations, { per_page: 100 });
    const known = await app.call(contacts.list_contacts, { search: "1415555403" });
    return [data.length, known.data.map(({ phone_number }) => phone_number)];
  };
  await deliver(app, inbox, messagesChange({ messages: both }));
  await deliver(app, inbox, messagesChange({ messages: [moved(from, to)] }));
  const [before] = await count();
  await deliver(app, inbox, messagesChange({ messages: both }));
  expect(await count()).toEqual([before, [`+${to}`]]);
  await app.call(contacts.delete_contact, { id: (await contactOf()).id });
  await app.runDueJobs();
  const [erased] = await count();
  const other = inboundText("three", { from: "14155554032" });
  await deliver(app, inbox, messagesChange({ messages: [...both, other] }));
  expect(await count()).toEqual([Number(erased) + 1, ["+14155554032"]]);
});
