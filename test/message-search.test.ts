/**
 * The search of messages and the report about the inbox.
 * @module-tag both
 */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOrganizationFor, createTenant } from "./support/operator.ts";
import { openPhone, setFaults } from "./support/simulator.ts";
import { createTemplateHelpers } from "./support/templates.ts";

const startsAt = new Date("2026-06-01T10:00:00Z");
const app = useTestApp({ startsAt });

let numbers = 100;
const numberOf = (index: number) => `+1415555${String(index).padStart(4, "0")}`;

function newPhone() {
  numbers += 1;
  return openPhone(app, numberOf(numbers));
}

const search = async (query: string, options: object = {}) =>
  (await app.call(messages.search_messages, { query, ...options })).data;
const textsOf = async (query: string) => (await search(query)).conversations.map(({ match }) => match.text);

test("a search finds all words in any order, without case and accents, and the beginnings of words", async () => {
  await newPhone().write("Où est ma crème brûlée, s'il vous plaît?", { name: "Zoë" });
  const { conversations: found, cursor, is_complete } = await search("BRULEE creme");
  expect(found).toEqual([
    {
      id: expect.stringMatching(/^conv_/),
      contact_id: expect.stringMatching(/^con_/),
      contact_name: "Zoë",
      phone_number: numberOf(numbers),
      status: "open",
      match_count: 1,
      match: {
        message_id: expect.stringMatching(/^msg_/),
        direction: "inbound",
        text: "Où est ma crème brûlée, s'il vous plaît?",
        created_at: startsAt.toISOString(),
      },
    },
  ]);
  expect({ cursor, is_complete }).toEqual({ cursor: null, is_complete: true });
  expect(await textsOf("brûl")).toHaveLength(1);
  expect(await textsOf("creme caramel")).toEqual([]);
  expect(await textsOf("rulee")).toEqual([]);
});

test.each([
  ["Заказ № 4711 готов", "ЗАКАЗ 4711"],
  ["Η παραγγελία ΕΦΤΑΣΕ", "παραγγελια εφτασε"],
  ["明日の注文をキャンセル", "注文"],
  ["ref:A-4712/b", "a 4712 b"],
  ["Die Straße ist gesperrt", "strasse"],
  ["O'Brien & Söhne", "o'brien sohne"],
])("'%s' is found by '%s'", async (text, query) => {
  await newPhone().write(text);
  expect(await textsOf(query)).toEqual([text]);
});

test("the passage is cut around the match, between words", async () => {
  const before = "one two three four five six seven eight nine ten eleven twelve thirteen ";
  await newPhone().write(`${before}passageword ${"and so on ".repeat(30)}`);
  const [text = ""] = await textsOf("passageword");
  expect(text).toMatch(/^…[a-z]+ .*thirteen passageword and so on .*…$/);
  expect(text.length).toBeLessThan(200);
});

test("outbound messages are found as soon as they are accepted", async () => {
  const { conversation_id } = await newPhone().write("hi");
  await app.call(messages.send_message, {
    to: conversation_id,
    type: "text",
    text: { body: "Your platypus is ready" },
  });
  expect((await search("platypus")).conversations[0]).toMatchObject({
    id: conversation_id,
    match: { direction: "outbound", text: "Your platypus is ready" },
  });
});

test("a direction restricts the matches, their counts and the pages", async () => {
  const phones = [newPhone(), newPhone()];
  for (const phone of phones) {
    const { conversation_id: to } = await phone.write("invoice please");
    await phone.write("the INVOICE of May");
    await app.call(messages.send_message, { to, type: "text", text: { body: "The invoice is attached" } });
  }
  const textsAndCounts = async (options: object) =>
    (await search("invoice", options)).conversations.map(({ match, match_count }) => [
      match.text,
      match_count,
    ]);
  const inbound = ["the INVOICE of May", 2];
  expect(await textsAndCounts({})).toEqual(phones.map(() => ["The invoice is attached", 3]));
  expect(await textsAndCounts({ direction: "outbound" })).toEqual(
    phones.map(() => ["The invoice is attached", 1]),
  );
  expect(await textsAndCounts({ direction: "inbound" })).toEqual([inbound, inbound]);
  const first = await search("invoice", { direction: "inbound", per_page: 1 });
  const after = first.cursor ?? "";
  expect(await textsAndCounts({ direction: "inbound", per_page: 1, after })).toEqual([inbound]);
});

test("matches are counted among the listed one and the 999 messages before it", async () => {
  const { conversation_id: id, message_id } = await newPhone().write("countable");
  expect((await search("countable")).conversations).toMatchObject([{ id, match_count: 1 }]);
  const copy = async (table: string, column: string) => {
    const copied = sql`
      jsonb_build_object(${column}::text, 'msg_0' || lpad(number::text, 25, '0'), 'channel_message_id', null)`;
    await sql`
      insert into ${sql.table(table)}
      select (jsonb_populate_record(original, ${copied})).*
      from ${sql.table(table)} as original, generate_series(1, 1010) as number
      where ${sql.ref(column)} = ${message_id}
    `.execute(app.server.database.queries);
  };
  await copy("messages", "id");
  await copy("message_words", "message_id");
  expect((await search("countable")).conversations).toMatchObject([{ id, match_count: 1_000 }]);
});

test("each conversation is listed once, with its newest match, over all pages", async () => {
  const phones = Array.from({ length: 5 }, newPhone);
  for (const round of [1, 2]) {
    for (const [index, phone] of phones.entries()) {
      await phone.write(`pagination ${round} of ${index}`);
    }
  }
  const first = await search("pagination", { per_page: 2 });
  // What arrives meanwhile changes nothing.
  await phones[0]?.write("pagination 3 of 0");
  const second = await search("pagination", { per_page: 2, after: first.cursor ?? "" });
  const third = await search("pagination", { per_page: 2, after: second.cursor ?? "" });
  const texts = [first, second, third].map((page) => page.conversations.map(({ match }) => match.text));
  expect(texts).toEqual([
    ["pagination 2 of 4", "pagination 2 of 3"],
    ["pagination 2 of 2", "pagination 2 of 1"],
    ["pagination 2 of 0"],
  ]);
  expect(third.cursor).toBeNull();
});

test("a word that most messages have is found beyond the newest ones", async () => {
  const phone = newPhone();
  await phone.write("rareword first");
  expect(await textsOf("rareword")).toHaveLength(1);
  // More than are compared without the index.
  await app.server.database.queries.transaction().execute(async (tx) => {
    const [row] = await tx.selectFrom("message_words").selectAll().limit(1).execute();
    const filler = Array.from({ length: 2_100 }, (_, index) => ({
      organization_id: row?.organization_id ?? "",
      message_id: `msg_7${String(index).padStart(25, "0")}`,
      words: "'filler'",
    }));
    await tx.insertInto("message_words").values(filler).execute();
  });
  expect(await textsOf("rareword")).toHaveLength(1);
  await app.server.database.queries.deleteFrom("message_words").where("message_id", ">=", "msg_7").execute();
});

test("older messages, of before the first search, are added step by step", async () => {
  await newPhone().write("antediluvian");
  await app.server.database.queries.deleteFrom("message_words").execute();
  await app.server.database.queries.deleteFrom("message_searches").execute();
  await app.advanceTime(10 * 60_000);
  expect(await textsOf("antediluvian")).toHaveLength(1);
});

test("a long word of characters beyond the basic plane is found by its first 64 units", async () => {
  const letter = "\u{1e922}";
  const { conversation_id: id } = await newPhone().write(`a${letter.repeat(40)}`);
  expect((await search(`a${letter.repeat(31)}`)).conversations).toMatchObject([{ id }]);
});

test("no character of a text around a match is halved", async () => {
  await newPhone().write(`halfway${"😀".repeat(200)}`);
  expect(await textsOf("halfway")).toEqual([`halfway${"😀".repeat(56)}…`]);
});

test("words that can't be stored do not stop the job for other organizations", async () => {
  await newPhone().write("blocked");
  await textsOf("blocked");
  const other = await createOrganizationFor(app, "Unblocked");
  await app.call(messages.search_messages, { query: "unblocked" }, { key: other.key });
  await openPhone(app, "+14155550805", other.key).write("unblocked");
  const { queries } = app.server.database;
  const [own] = await queries.selectFrom("message_searches").selectAll().orderBy("organization_id").execute();
  const constraint = sql`message_words add constraint blocked check (organization_id <> ${sql.lit(own?.organization_id)}) not valid`;
  await newPhone().write("blocked again");
  await sql`alter table ${constraint}`.execute(queries);
  await app.advanceTime(2 * 60_000);
  await sql`alter table message_words drop constraint blocked`.execute(queries);
  const stored = await queries.selectFrom("message_words").selectAll().execute();
  expect(stored.filter(({ words }) => words.includes("'unblocked'"))).toHaveLength(1);
});

test("a query that has only accents finds nothing", async () => {
  expect(await search("\u037a")).toEqual({ conversations: [], cursor: null, is_complete: true });
});

test("another organization finds nothing of it", async () => {
  await newPhone().write("confidential");
  const other = await createOrganizationFor(app, "Other");
  const { data } = await app.call(messages.search_messages, { query: "confidential" }, { key: other.key });
  expect(data.conversations).toEqual([]);
});

test("an erased contact is not found, before and after the job has run", async () => {
  await newPhone().write("ephemeral");
  const [found] = (await search("ephemeral")).conversations;
  await app.call(contacts.delete_contact, { id: found?.contact_id ?? "" });
  expect(await textsOf("ephemeral")).toEqual([]);
  await app.runDueJobs();
  expect(await textsOf("ephemeral")).toEqual([]);
});

test.each([
  [{ query: "?!" }, { param: "query" }],
  [{ query: "a b c d e f g h i" }, { param: "query", code: "too_many_words" }],
  [
    { query: "hi", after: "bm90aGluZw" },
    { param: "after", code: "invalid_cursor" },
  ],
])("%j is rejected", async (input, error) => {
  expect(await expectFailure(app.call(messages.search_messages, input))).toMatchObject({
    status: 400,
    error,
  });
});

test("a conversation counts the messages that are unread", async () => {
  const phone = newPhone();
  const { conversation_id: id } = await phone.write("one");
  await phone.write("two");
  const count = async () => (await app.call(conversations.get_conversation, { id })).data.unread_count;
  const mark = (is_unread: boolean) => app.call(conversations.update_conversation, { id, is_unread });
  expect(await count()).toBe(2);
  await mark(true);
  expect(await count()).toBe(2);
  await mark(false);
  expect(await count()).toBe(0);
  await mark(true);
  expect(await count()).toBe(1);
  await mark(false);
  await phone.write("three");
  const { data } = await app.call(conversations.list_conversations, {});
  expect(data.find((one) => one.id === id)).toMatchObject({ is_unread: true, unread_count: 1 });
});

test("the report says in one answer what needs attention, in few bytes a row", async () => {
  const other = await createOrganizationFor(app, "Report");
  const as = { key: other.key };
  const write = (number: string, text: string, name?: string) =>
    openPhone(app, number, other.key).write(text, name === undefined ? {} : { name });
  const waiting = await write("+14155550801", "Where is my order?", "Ann");
  await app.advanceTime(60_000);
  const urgent = await write("+14155550802", "This is URGENT, please call", "Ben");
  await app.advanceTime(60_000);
  const { data } = await app.call(messages.get_inbox_report, {}, as);
  const [ann, ben] = [
    {
      conversation_id: waiting.conversation_id,
      contact_name: "Ann",
      text: "Where is my order?",
      unread_count: 1,
    },
    {
      conversation_id: urgent.conversation_id,
      contact_name: "Ben",
      text: "This is URGENT, please call",
      unread_count: 1,
    },
  ];
  expect(data).toMatchObject({
    at: app.now().toISOString(),
    counts: { open: 2, pending: 0, unassigned: 2, unread: 2, waiting: 2, failed: 0 },
    waiting: [ann, ben],
    unread: [ben, ann],
    failed: [],
  });
  const { contact_name, conversation_id, text } = ben ?? {};
  expect(data.urgent).toEqual([
    { contact_name, conversation_id, text, message_id: urgent.message_id, created_at: expect.any(String) },
  ]);
  expect(JSON.stringify(data.waiting).length / data.waiting.length).toBeLessThan(250);
  const calm = await app.call(messages.get_inbox_report, { urgent_words: "order" }, as);
  expect(calm.data.urgent.map(({ message_id }) => message_id)).toEqual([waiting.message_id]);
});

test("the report shows what a waiting contact wrote, and not a template that was sent since", async () => {
  const tenant = await createTenant(app);
  const template = createTemplateHelpers(tenant);
  await template.approve({ name: "news" });
  const number = "+14155550803";
  const { conversation_id } = await openPhone(tenant, number).write("Where is my parcel?");
  await template.send(number, { name: "news" });
  const { data } = await tenant.call(messages.get_inbox_report, {});
  expect(data.waiting).toMatchObject([{ conversation_id, text: "Where is my parcel?" }]);
});

test("the report has the messages that failed since a time", async () => {
  const { conversation_id } = await newPhone().write("hello");
  await setFaults(app, { failures: [{ code: 131026, share: 1 }] });
  const { data: sent } = await app.call(messages.send_message, {
    to: conversation_id,
    type: "text",
    text: { body: "x" },
  });
  await app.advanceTime(10_000);
  await setFaults(app, {});
  const { data } = await app.call(messages.get_inbox_report, {});
  expect(data.failed.find(({ message_id }) => message_id === sent.id)).toMatchObject({ conversation_id });
  const later = await app.call(messages.get_inbox_report, { since: app.now().toISOString() });
  expect(later.data.counts.failed).toBe(0);
  const early = new Date(app.now().getTime() - 8 * 24 * 3_600_000).toISOString();
  expect(await expectFailure(app.call(messages.get_inbox_report, { since: early }))).toMatchObject({
    error: { param: "since", code: "since_too_early" },
  });
});
