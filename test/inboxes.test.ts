/** Inboxes: several numbers of one organization, each with its own threads and settings. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { refusal } from "./support/failure.ts";
import { type House, openHouse } from "./support/house.ts";
import { moveIn } from "./support/neighbour.ts";
import { phone } from "./support/simulator.ts";

const secondNumber = "+14155550101";

let house: House;
let first: string;
let second: string;
beforeAll(async () => {
  house = await openHouse();
  first = (await house.call(inboxes.list_inboxes, {})).data[0]?.id ?? "none";
  second = (await create("+1 (415) 555-0101")).data.id;
});
afterAll(() => house[Symbol.asyncDispose]());

const create = (phone_number: string, settings: object = {}) =>
  house.call(inboxes.create_inbox, { name: "Support", phone_number, settings });

const send = (to: string, more: { inbox_id?: string } = {}) =>
  house.call(messages.send_message, { to, type: "text", text: { body: "hello" }, ...more });

/** The inbox of the conversation that a message is in. */
async function inboxOf({ data }: Awaited<ReturnType<typeof send>>): Promise<string> {
  const thread = await house.call(conversations.get_conversation, { id: data.conversation_id });
  return thread.data.inbox_id;
}

test("inboxes are listed oldest first, with their number in E.164 form", async () => {
  const { data, meta } = await house.call(inboxes.list_inboxes, {});
  expect(data.map(({ id }) => id)).toEqual([first, second]);
  expect(data[1]).toMatchObject({ phone_number: secondNumber, channel: "simulator", platform: "whatsapp" });
  expect(meta).toEqual({ total: 2 });
});

test("a number that has an inbox is refused with its id; another organization may have it too", async () => {
  const failure = await refusal(create("14155550101"));
  expect(failure).toMatchObject({ status: 409, code: "inbox_exists", error: { existing_id: second } });
  const { key } = await moveIn(house);
  const input = { name: "Theirs", phone_number: secondNumber };
  expect((await house.call(inboxes.create_inbox, input, { key })).data.phone_number).toBe(secondNumber);
});

test("a number that is none is refused by name", async () => {
  const failure = await refusal(create("+1 23"));
  expect(failure).toMatchObject({
    status: 400,
    code: "invalid_phone_number",
    error: { param: "phone_number" },
  });
});

test("settings are replaced whole, and what is no setting is not kept", async () => {
  const { data } = await create("+14155550102", {
    stop_words: ["basta"],
    service_window: "advisory",
    odd: 1,
  });
  expect(data.settings).toEqual({ stop_words: ["basta"], service_window: "advisory" });
  const renamed = await house.call(inboxes.update_inbox, { id: data.id, name: "Sales" });
  expect(renamed.data).toMatchObject({ name: "Sales", settings: data.settings });
  const changed = await house.call(inboxes.update_inbox, { id: data.id, settings: { stop_reply: "" } });
  expect(changed.data).toMatchObject({ name: "Sales", settings: { stop_reply: "" } });
  expect(changed.data.settings).not.toHaveProperty("stop_words");
});

test("a setting that does not exist in that form is refused by name", async () => {
  const json = { settings: { service_window: "lax" } };
  const answer = await house.fetch(`/v1/inboxes/${second}`, { method: "PUT", json });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { param: "settings.service_window" } });
});

test("the window rule of an inbox holds for what it sends", async () => {
  const { data } = await create("+14155550103", { service_window: "strict" });
  expect(await refusal(send("+14155550211", { inbox_id: data.id }))).toMatchObject({
    status: 422,
    code: "outside_service_window",
  });
  await phone(house, "+14155550211").write("hi", { to: "+14155550103" });
  expect(await inboxOf(await send("+14155550211"))).toBe(data.id);
});

test("who writes to a second inbox has a thread there, and is answered from it", async () => {
  const customer = phone(house, "+14155550212");
  const { conversation_id } = await customer.write("hi", { to: secondNumber });
  const { data: thread } = await house.call(conversations.get_conversation, { id: conversation_id });
  expect(thread.inbox_id).toBe(second);
  const { data: sent } = await send("+14155550212");
  expect(sent.conversation_id).toBe(conversation_id);
  await house.turn(1000);
  await house.settle();
  const { data: message } = await house.call(messages.get_message, { conversation_id, message_id: sent.id });
  expect(message).toMatchObject({ from: secondNumber, status: "delivered" });
  expect((await customer.shows()).map(({ text }) => text?.body)).toEqual(["hi", "hello"]);
});

test("a message goes out from the inbox that is named, or of the latest message, or from the first", async () => {
  const to = "+14155550213";
  expect(await inboxOf(await send(to))).toBe(first);
  await house.turn(1000);
  expect(await inboxOf(await send(to, { inbox_id: second }))).toBe(second);
  await house.turn(1000);
  expect(await inboxOf(await send(to))).toBe(second);
  await house.turn(1000);
  await phone(house, to).write("to the first");
  expect(await inboxOf(await send(to))).toBe(first);
  const { meta } = await house.call(conversations.list_conversations, { inbox_id: second });
  expect(meta.total).toBeGreaterThan(0);
});

test("an inbox that is not there is refused, and leaves nothing behind", async () => {
  const failure = await refusal(send("+14155550214", { inbox_id: "inb_none" }));
  expect(failure).toMatchObject({ status: 404, code: "inbox_not_found", error: { param: "inbox_id" } });
  const { meta } = await house.call(contacts.list_contacts, { search: "+14155550214" });
  expect(meta.total).toBe(0);
  const json = { from: "+14155550214", to: "+14155559999", text: "hi" };
  expect((await house.fetch("/simulator/inbound", { method: "POST", json })).status).toBe(404);
});
