/** Inboxes: several numbers of one organization, each with its own conversations and settings. */
import pg from "pg";
import { beforeAll, expect, test, vi } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { openPhone } from "./support/simulator.ts";

const secondNumber = "+14155550101";

const app = useTestApp();
let first: string;
let second: string;
beforeAll(async () => {
  first = (await app.call(inboxes.list_inboxes, {})).data[0]?.id ?? "none";
  second = (await create("+1 (415) 555-0101")).data.id;
});

const create = (phone_number: string, settings: object = {}) =>
  app.call(inboxes.create_inbox, { name: "Support", phone_number, settings });

const send = (to: string, fields: { inbox_id?: string } = {}) =>
  app.call(messages.send_message, { to, type: "text", text: { body: "hello" }, ...fields });

/** The inbox of the conversation that a message is in. */
async function inboxOf({ data }: Awaited<ReturnType<typeof send>>): Promise<string> {
  const conversation = await app.call(conversations.get_conversation, { id: data.conversation_id });
  return conversation.data.inbox_id;
}

test("inboxes are listed oldest first, with their number in E.164 form", async () => {
  const { data, meta } = await app.call(inboxes.list_inboxes, {});
  // Those of other tests are newer.
  expect(data.slice(0, 2).map(({ id }) => id)).toEqual([first, second]);
  expect(data[1]).toMatchObject({ phone_number: secondNumber, channel: "simulator", platform: "whatsapp" });
  expect(meta).toEqual({ total: data.length });
});

test("a number that has an inbox is rejected with the inbox's id; another organization may have it too", async () => {
  const failure = await expectFailure(create("0014155550101"));
  expect(failure).toMatchObject({ status: 409, code: "inbox_exists", error: { existing_id: second } });
  const { key } = await createOtherTenant(app);
  const input = { name: "Theirs", phone_number: secondNumber };
  expect((await app.call(inboxes.create_inbox, input, { key })).data.phone_number).toBe(secondNumber);
});

test("an invalid number is rejected with its field", async () => {
  const failure = await expectFailure(create("+1 23"));
  expect(failure).toMatchObject({
    status: 400,
    code: "invalid_phone_number",
    error: { param: "phone_number" },
  });
});

test("settings are replaced completely", async () => {
  const { data } = await create("+14155550102", {
    stop_words: ["basta"],
    service_window: "advisory",
  });
  expect(data.settings).toEqual({ stop_words: ["basta"], service_window: "advisory" });
  const renamed = await app.call(inboxes.update_inbox, { id: data.id, name: "Sales" });
  expect(renamed.data).toMatchObject({ name: "Sales", settings: data.settings });
  const changed = await app.call(inboxes.update_inbox, { id: data.id, settings: { stop_reply: "" } });
  expect(changed.data).toMatchObject({ name: "Sales", settings: { stop_reply: "" } });
  expect(changed.data.settings).not.toHaveProperty("stop_words");
});

test("an invalid setting is rejected with its field", async () => {
  const json = { settings: { service_window: "lax" } };
  const answer = await app.fetch(`/v1/inboxes/${second}`, { method: "PUT", json });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { param: "settings.service_window" } });
});

test("an inbox's window rule applies to the messages that it sends", async () => {
  const { data } = await create("+14155550103", { service_window: "strict" });
  expect(await expectFailure(send("+14155550211", { inbox_id: data.id }))).toMatchObject({
    status: 422,
    code: "outside_service_window",
  });
  await openPhone(app, "+14155550211").write("hi", { to: "+14155550103" });
  expect(await inboxOf(await send("+14155550211"))).toBe(data.id);
});

test("a contact who writes to a second inbox has a conversation there, and is answered from it", async () => {
  const customer = openPhone(app, "+14155550212");
  const { conversation_id } = await customer.write("hi", { to: secondNumber });
  const { data: conversation } = await app.call(conversations.get_conversation, { id: conversation_id });
  expect(conversation.inbox_id).toBe(second);
  const { data: sent } = await send("+14155550212");
  expect(sent.conversation_id).toBe(conversation_id);
  await app.advanceTime(1000);
  await app.runDueJobs();
  const { data: message } = await app.call(messages.get_message, { conversation_id, message_id: sent.id });
  expect(message).toMatchObject({ from: secondNumber, status: "delivered" });
  expect((await customer.listMessages()).map(({ text }) => text?.body)).toEqual(["hi", "hello"]);
});

test("a message is sent from the given inbox, else that of the latest message, else the first", async () => {
  const to = "+14155550213";
  const countInSecond = async () =>
    (await app.call(conversations.list_conversations, { inbox_id: second })).meta.total;
  const before = await countInSecond();
  expect(await inboxOf(await send(to))).toBe(first);
  await app.advanceTime(1000);
  expect(await inboxOf(await send(to, { inbox_id: second }))).toBe(second);
  await app.advanceTime(1000);
  expect(await inboxOf(await send(to))).toBe(second);
  await app.advanceTime(1000);
  await openPhone(app, to).write("to the first");
  expect(await inboxOf(await send(to))).toBe(first);
  expect(await countInSecond()).toBe(before + 1);
});

test("an unknown inbox is rejected, and nothing is stored", async () => {
  const failure = await expectFailure(send("+14155550214", { inbox_id: "inb_none" }));
  expect(failure).toMatchObject({ status: 404, code: "inbox_not_found", error: { param: "inbox_id" } });
  const { meta } = await app.call(contacts.list_contacts, { search: "+14155550214" });
  expect(meta.total).toBe(0);
  const json = { from: "+14155550214", to: "+14155559999", text: "hi" };
  expect((await app.fetch("/simulator/inbound", { method: "POST", json })).status).toBe(404);
});

test("an inbound message without a number reads one inbox, however many there are", async () => {
  const spy = vi.spyOn(pg.Client.prototype, "query");
  await openPhone(app, "+14155550177").write("hello");
  const results: unknown[] = await Promise.all(spy.mock.results.map(({ value }) => value));
  const texts = spy.mock.calls.map(([query]) => Object(query).text ?? query);
  spy.mockRestore();
  const rowCounts = results.flatMap((result, index) =>
    String(texts[index]).includes('from "inboxes"') ? [Object(result).rows.length] : [],
  );
  expect(rowCounts).not.toEqual([]);
  expect(Math.max(...rowCounts)).toBe(1);
});
