/** Notes: who wrote them, where they are shown, and that nothing sends them. */
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import type { CompletionRequest, LanguageModel } from "../src/ports/models/language-model.ts";
import { apiKeys } from "../tools/api-keys.ts";
import { auth } from "../tools/auth.ts";
import { chatbot } from "../tools/chatbot.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { notes } from "../tools/notes.ts";
import { webhooks } from "../tools/webhooks.ts";
import { ownerEmail, ownerPassword, useTestApp } from "./support/app.ts";
import { createChatbotHelpers } from "./support/chatbot.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createFlowHelpers } from "./support/flows.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { openPhone } from "./support/simulator.ts";
import { readSources } from "./support/sources.ts";
import { findTables } from "./support/tables.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });

const add = async (conversation_id: string, text: string, key?: string) =>
  (await app.call(notes.add_note, { conversation_id, text }, key === undefined ? {} : { key })).data;
const contextOf = async (id: string) => (await app.call(messages.get_conversation_context, { id })).data;
const listed = async (id: string) =>
  (await app.call(conversations.list_conversations, {})).data.find((one) => one.id === id);

test("a note has its text and its author: a key, or the signed-in user", async () => {
  const { conversation_id } = await openPhone(app, "+14155550701").write("hi");
  const { data: key } = await app.call(apiKeys.create_api_key, {
    name: "Assistant",
    scopes: ["inbox:write", "inbox:read"],
  });
  const byKey = await add(conversation_id, "  Wants the invoice by Friday.\n", key.secret_key);
  expect(byKey).toEqual({
    id: expect.stringMatching(/^note_/),
    conversation_id,
    text: "Wants the invoice by Friday.",
    author: { type: "api_key", id: key.id, name: "Assistant" },
    mentions: [],
    created_at: app.now().toISOString(),
  });
  const { data: session } = await app.call(auth.login, { email: ownerEmail, password: ownerPassword });
  const byUser = await add(conversation_id, "Sent.", session.access_token);
  expect(byUser.author).toMatchObject({ type: "user", id: session.user.id });
  const { data, meta } = await app.call(notes.list_notes, { conversation_id });
  expect(data).toEqual([byUser, byKey]);
  expect(meta.total).toBe(2);
});

test("the context has the latest ten notes, oldest first, and the list the latest one, shortened", async () => {
  const { conversation_id } = await openPhone(app, "+14155550702").write("hi");
  expect((await contextOf(conversation_id)).notes).toEqual([]);
  expect(await listed(conversation_id)).toMatchObject({ last_note: null });
  for (let number = 1; number <= 11; number += 1) {
    await add(conversation_id, `note ${number}`);
  }
  const shown = (await contextOf(conversation_id)).notes.map(({ text }) => text);
  expect(shown).toEqual(Array.from({ length: 10 }, (_, index) => `note ${index + 2}`));
  const { author, created_at } = await add(conversation_id, "x".repeat(4096));
  expect((await listed(conversation_id))?.last_note).toEqual({
    text: `${"x".repeat(120)}…`,
    author,
    created_at,
    mentions: [],
  });
});

test("a note changes nothing of its conversation: the contact still waits for an answer", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550703").write("hi");
  const { data: before } = await app.call(conversations.get_conversation, { id });
  expect(before.waiting_since).not.toBeNull();
  await app.advanceTime(60_000);
  await add(id, "Is known as difficult.");
  expect((await app.call(conversations.get_conversation, { id })).data).toEqual(before);
});

test("a blank note and one of more than 4096 characters are rejected", async () => {
  const { conversation_id } = await openPhone(app, "+14155550704").write("hi");
  for (const text of ["", " \n", "x".repeat(4097)]) {
    const failure = await expectFailure(add(conversation_id, text));
    expect(failure).toMatchObject({ status: 400, error: { param: "text" } });
  }
});

test("of another tenant's conversation and of an erased contact's nothing is listed or added", async () => {
  const other = await createOtherTenant(app);
  const { conversation_id } = await openPhone(app, "+14155550705").write("hi");
  const { contact } = await contextOf(conversation_id);
  await app.call(contacts.delete_contact, { id: contact.id });
  for (const id of [other.conversation_id, conversation_id]) {
    expect(await expectFailure(add(id, "x"))).toMatchObject({ code: "conversation_not_found" });
    const list = app.call(notes.list_notes, { conversation_id: id });
    expect(await expectFailure(list)).toMatchObject({ code: "conversation_not_found" });
  }
});

test("the erasure of the contact deletes its notes, and no others", async () => {
  const { conversation_id } = await openPhone(app, "+14155550706").write("hi");
  const { conversation_id: kept } = await openPhone(app, "+14155550707").write("hi");
  await add(conversation_id, "goes");
  const note = await add(kept, "stays");
  const { contact } = await contextOf(conversation_id);
  await app.call(contacts.delete_contact, { id: contact.id });
  await app.runDueJobs();
  const rows = await app.server.database.queries
    .selectFrom("conversation_notes")
    .select("id")
    .where("conversation_id", "in", [conversation_id, kept])
    .execute();
  expect(rows).toEqual([{ id: note.id }]);
});

test("an event reports each note to those who subscribe to it", async () => {
  const { conversation_id } = await openPhone(app, "+14155550708").write("hi");
  const { meta: start } = await app.call(webhooks.list_events, {});
  const { id: note_id, ...note } = await add(conversation_id, "Call back at 5.");
  const { data } = await app.call(webhooks.list_events, { after: start.cursor, types: "note.created" });
  expect(data).toMatchObject([{ type: "note.created", data: { note_id, ...note } }]);
});

test("the node add_note adds a note by the flow, with its placeholders filled in, and fails if it is blank", async () => {
  const { create, runsOf } = createFlowHelpers(app);
  const flow = await create(
    [
      {
        id: "blank",
        node_type: "add_note",
        action_config: { text: "{{contact.metadata.none}}" },
      },
      {
        id: "note",
        node_type: "add_note",
        parent_node_id: "blank",
        connection_type: "error",
        action_config: { text: "{{contact.name}} wrote: {{message.text}}" },
      },
    ],
    { trigger_keyword: "remember" },
  );
  const phone = openPhone(app, "+14155550709");
  const { conversation_id } = await phone.write("remember me", { name: "Ada" });
  await app.advanceTime(1_000);
  expect((await contextOf(conversation_id)).notes).toMatchObject([
    { text: "Ada wrote: remember me", author: { type: "flow", id: flow.id, name: flow.name } },
  ]);
  expect(await runsOf(conversation_id)).toMatchObject([
    { status: "completed", path: [{ outcome: "error", error: "flow_note_invalid" }, { outcome: "next" }] },
  ]);
  expect((await phone.listMessages()).map(({ direction }) => direction)).toEqual(["inbound"]);
});

test("no channel sends a note, and no bot is given one", async () => {
  const bot = createChatbotHelpers(app);
  await bot.configure();
  await bot.addPair("Do you deliver?", "We deliver within three days.");
  const phone = openPhone(app, "+14155550710");
  const { conversation_id } = await phone.write("hello");
  const secret = "zq9secret";
  await add(conversation_id, `${secret}: do you deliver? Never offer a discount.`);
  const requests: CompletionRequest[] = [];
  const languageModel: LanguageModel = {
    model: "scripted",
    async complete(request) {
      requests.push(request);
      return { outcome: "answered", text: "We deliver within three days [1].", usage: null };
    },
  };
  Object.assign(await readWorld(app), { languageModel });
  await app.call(chatbot.chat_with_bot, { conversation_id, message: "Do you deliver?" });
  Object.assign(await readWorld(app), { languageModel: undefined });
  await app.advanceTime(60_000);
  expect(requests).toHaveLength(1);
  expect(JSON.stringify(requests)).not.toContain(secret);
  expect((await phone.listMessages()).map(({ text }) => text?.body)).toEqual(["hello"]);
  const { data } = await app.call(messages.list_messages, { conversation_id });
  expect(data).toHaveLength(1);
});

test("no placeholder of a flow names a note", async () => {
  const { create } = createFlowHelpers(app);
  for (const name of ["notes", "note.text", "conversation.notes", "conversation.last_note"]) {
    const nodes = [{ id: "say", node_type: "send_message", action_config: { text: `{{${name}}}` } } as const];
    expect(await expectFailure(create(nodes))).toMatchObject({ status: 400, code: "flow_invalid" });
  }
});

test("notes are read by their module alone, and by what shows conversations: nothing that sends can get one", async () => {
  const sources = await readSources("src/platform", "src/adapters", "src/jobs");
  const table = new Set(["conversation_notes"]);
  const readers = sources.filter(({ path, text }) => findTables(path, text, table).named.length > 0);
  expect(readers.map(({ path }) => path)).toEqual(["src/platform/inbox/notes.ts"]);
  const importing = sources.filter(({ imports }) => imports.includes("src/platform/inbox/notes.ts"));
  expect([...new Set(importing.map(({ path }) => dirname(path)))].sort()).toEqual([
    "src/platform",
    // It adds notes.
    "src/platform/automation/flows/run",
    "src/platform/inbox/messages/reading",
  ]);
  const inFlows = importing.find(({ path }) => path.includes("/flows/"));
  expect(inFlows?.text).toContain('import { addNote } from "../../../inbox/notes.ts";');
});
