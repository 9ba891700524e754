/** Conversations: one thread a contact, its window, and how it comes back. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages.ts";
import { refusal } from "./support/failure.ts";
import { type House, openHouse } from "./support/house.ts";
import { phone } from "./support/simulator.ts";

const hours = 3_600_000;
let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house[Symbol.asyncDispose]());

const send = (to: string) => house.call(messages.send_message, { to, type: "text", text: { body: "hello" } });
const get = async (id: string) => (await house.call(conversations.get_conversation, { id })).data;

test("an inbound message from an unknown number makes a contact and an open thread", async () => {
  const { conversation_id } = await phone(house, "+14155550131").write("hi", { name: "Ada" });
  expect(await get(conversation_id)).toMatchObject({
    contact_name: "Ada",
    phone_number: "+14155550131",
    platform: "whatsapp",
    status: "open",
    is_within_24h_window: true,
    window_expires_at: new Date(house.now().getTime() + 24 * hours).toISOString(),
    is_expired: false,
    assigned_to: null,
  });
});

test("a name that the channel tells is kept for a contact that has none, and changes no other", async () => {
  await send("+14155550137");
  const { conversation_id } = await phone(house, "+14155550137").write("hi", { name: "Ada" });
  expect((await get(conversation_id)).contact_name).toBe("Ada");
  await phone(house, "+14155550137").write("hi", { name: "Somebody" });
  expect((await get(conversation_id)).contact_name).toBe("Ada");
});

test("a contact has one thread, whoever writes first", async () => {
  const sent = await send("+14155550132");
  const { conversation_id } = await phone(house, "+14155550132").write("who is this?");
  expect(conversation_id).toBe(sent.data.conversation_id);
});

test("the window closes 24 hours after the contact's last message; our own do not move it", async () => {
  const { conversation_id } = await phone(house, "+14155550133").write("hi");
  await house.turn(23 * hours);
  await send("+14155550133");
  expect((await get(conversation_id)).is_within_24h_window).toBe(true);
  await house.turn(hours);
  expect(await get(conversation_id)).toMatchObject({ is_within_24h_window: false, is_expired: true });
  await phone(house, "+14155550133").write("again");
  expect(await get(conversation_id)).toMatchObject({ is_within_24h_window: true, is_expired: false });
});

test.each([
  ["closed", "open"],
  ["snoozed", "open"],
  ["pending", "pending"],
  ["spam", "spam"],
] as const)("a message into a %s thread makes it %s", async (before, after) => {
  const from = phone(house, "+14155550134");
  const { conversation_id } = await from.write("first");
  await house.app.database.queries
    .updateTable("conversations")
    .set({ status: before })
    .where("id", "=", conversation_id)
    .execute();
  await from.write("second");
  expect((await get(conversation_id)).status).toBe(after);
});

test("lists by contact, status and filter, the latest first", async () => {
  const { conversation_id } = await phone(house, "+14155550135").write("anybody?");
  const { contact_id } = await get(conversation_id);
  const list = async (query: object) =>
    (await house.call(conversations.list_conversations, query)).data.map(({ id }) => id);
  expect(await list({ contact_id })).toEqual([conversation_id]);
  expect((await list({}))[0]).toBe(conversation_id);
  expect(await list({ filter: "unanswered" })).toContain(conversation_id);
  await house.turn(1000);
  await send("+14155550135");
  expect(await list({ filter: "unanswered" })).not.toContain(conversation_id);
  expect(await list({ contact_id, filter: "unassigned", status: "open" })).toEqual([conversation_id]);
  expect(await list({ contact_id, status: "closed" })).toEqual([]);
  await house.turn(24 * hours);
  expect(await list({ contact_id, filter: "expired_window" })).toEqual([conversation_id]);
});

test("a filter that needs a person says so to a key", async () => {
  const call = house.call(conversations.list_conversations, { filter: "assigned_to_me" });
  expect(await refusal(call)).toMatchObject({ status: 400, code: "needs_user" });
});

test("an erased contact takes its thread out of every list", async () => {
  const { conversation_id } = await phone(house, "+14155550136").write("forget me");
  const { contact_id } = await get(conversation_id);
  await house.call(contacts.delete_contact, { id: contact_id });
  expect(await refusal(house.call(conversations.get_conversation, { id: conversation_id }))).toMatchObject({
    status: 404,
  });
  const again = await phone(house, "+14155550136").write("me again");
  expect(again.conversation_id).not.toBe(conversation_id);
});
