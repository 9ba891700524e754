/** Conversations: one per contact, the 24-hour window, lists, tags and erasure. */
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone, setFaults } from "./support/simulator.ts";

const hours = 3_600_000;
const app = useTestApp();

const send = (to: string) => app.call(messages.send_message, { to, type: "text", text: { body: "hello" } });
const write = async (number: string) => (await openPhone(app, number).write("hi")).conversation_id;
const get = async (id: string) => (await app.call(conversations.get_conversation, { id })).data;

test("an inbound message from an unknown number creates a contact and an open conversation", async () => {
  const { conversation_id } = await openPhone(app, "+14155550131").write("hi", { name: "Ada" });
  expect(await get(conversation_id)).toMatchObject({
    contact_name: "Ada",
    phone_number: "+14155550131",
    platform: "whatsapp",
    status: "open",
    is_within_24h_window: true,
    window_expires_at: new Date(app.now().getTime() + 24 * hours).toISOString(),
    is_expired: false,
    assigned_to: null,
  });
});

test("the channel's name is stored for a contact without one, and replaces none", async () => {
  await send("+14155550137");
  const { conversation_id } = await openPhone(app, "+14155550137").write("hi", { name: "Ada" });
  expect((await get(conversation_id)).contact_name).toBe("Ada");
  await openPhone(app, "+14155550137").write("hi", { name: "Grace" });
  expect((await get(conversation_id)).contact_name).toBe("Ada");
});

test("a list says how far the last message has come, and which conversations are favorites", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550149").write("hi");
  const row = async () => {
    const { data } = await app.call(conversations.list_conversations, {});
    return data.find((one) => one.id === id);
  };
  expect(await row()).toMatchObject({ is_favorite: false, last_message: { status: "received" } });
  await app.call(conversations.update_conversation, { id, is_favorite: true });
  await setFaults(app, { failures: [{ code: 131026, share: 1 }] });
  await send("+14155550149");
  expect(await row()).toMatchObject({ is_favorite: true, last_message: { status: "queued" } });
  await app.advanceTime(1_000);
  expect(await row()).toMatchObject({ last_message: { status: "failed", direction: "outbound" } });
  await setFaults(app, {});
});

test("a contact has one conversation, no matter which side writes first", async () => {
  const sent = await send("+14155550132");
  const { conversation_id } = await openPhone(app, "+14155550132").write("who is this?");
  expect(conversation_id).toBe(sent.data.conversation_id);
});

test("the window closes 24 hours after the contact's last message; outbound messages do not extend it", async () => {
  const { conversation_id } = await openPhone(app, "+14155550133").write("hi");
  await app.advanceTime(23 * hours);
  await send("+14155550133");
  expect((await get(conversation_id)).is_within_24h_window).toBe(true);
  await app.advanceTime(hours);
  expect(await get(conversation_id)).toMatchObject({ is_within_24h_window: false, is_expired: true });
  await openPhone(app, "+14155550133").write("again");
  expect(await get(conversation_id)).toMatchObject({ is_within_24h_window: true, is_expired: false });
});

test.each([
  ["closed", "open"],
  ["snoozed", "open"],
  ["pending", "pending"],
  ["spam", "spam"],
] as const)("an inbound message turns a %s conversation %s", async (before, after) => {
  const from = openPhone(app, "+14155550134");
  const { conversation_id } = await from.write("first");
  await app.server.database.queries
    .updateTable("conversations")
    .set({ status: before })
    .where("id", "=", conversation_id)
    .execute();
  await from.write("second");
  expect((await get(conversation_id)).status).toBe(after);
});

test("conversations are listed by contact, status and filter, the latest first", async () => {
  const { conversation_id } = await openPhone(app, "+14155550135").write("anybody?");
  const { contact_id } = await get(conversation_id);
  const list = async (query: object) =>
    (await app.call(conversations.list_conversations, query)).data.map(({ id }) => id);
  expect(await list({ contact_id })).toEqual([conversation_id]);
  expect((await list({}))[0]).toBe(conversation_id);
  expect(await list({ filter: "unanswered" })).toContain(conversation_id);
  await app.advanceTime(1000);
  await send("+14155550135");
  expect(await list({ filter: "unanswered" })).not.toContain(conversation_id);
  expect(await list({ contact_id, filter: "unassigned", status: "open" })).toEqual([conversation_id]);
  expect(await list({ contact_id, status: "closed" })).toEqual([]);
  await app.advanceTime(24 * hours);
  expect(await list({ contact_id, filter: "expired_window" })).toEqual([conversation_id]);
});

test("assigned_to_me requires a user: a key is rejected", async () => {
  const call = app.call(conversations.list_conversations, { filter: "assigned_to_me" });
  expect(await expectFailure(call)).toMatchObject({ status: 400, code: "needs_user" });
});

test("an erased contact's conversation is not found, and the next message opens a new one", async () => {
  const { conversation_id } = await openPhone(app, "+14155550136").write("forget me");
  const { contact_id } = await get(conversation_id);
  await app.call(contacts.delete_contact, { id: contact_id });
  expect(
    await expectFailure(app.call(conversations.get_conversation, { id: conversation_id })),
  ).toMatchObject({
    status: 404,
  });
  const again = await openPhone(app, "+14155550136").write("me again");
  expect(again.conversation_id).not.toBe(conversation_id);
});

test("waiting_since is null in closed and spam, and is set again when a closed one reopens", async () => {
  const isWaiting = async (id: string) => (await get(id)).waiting_since !== null;
  const id = await write("+14155550198");
  expect(await isWaiting(id)).toBe(true);
  await app.call(conversations.update_conversation, { id, status: "closed" });
  expect(await isWaiting(id)).toBe(false);
  await write("+14155550198");
  expect(await isWaiting(id)).toBe(true);
  await app.call(conversations.update_conversation, { id, status: "spam" });
  await write("+14155550198");
  expect(await isWaiting(id)).toBe(false);
});

test("a conversation's tags are normalized like a contact's, and a list can be filtered by one", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550129").write("hi");
  const tag = async (change: object) =>
    (await app.call(conversations.update_conversation, { id, ...change })).data.tags;
  expect(await tag({ add_tags: ["VIP", "vip ", "Cafe\u0301"] })).toEqual(["vip", "caf\u00e9"]);
  const { data } = await app.call(conversations.list_conversations, { tag: "ViP" });
  expect(data.map((one) => one.id)).toEqual([id]);
  expect(await tag({ remove_tags: ["CAFÉ"] })).toEqual(["vip"]);
});

test("a change of a conversation sets the time of its change, and not the time of its last message", async () => {
  const id = await write("+14155550162");
  const { last_message_at } = await get(id);
  await app.advanceTime(60_000);
  const updated_at = app.now().toISOString();
  for (const change of [{ add_tags: ["new"] }, { is_favorite: true }, { status: "pending" as const }]) {
    await app.call(conversations.update_conversation, { id, ...change });
    expect(await get(id)).toMatchObject({ updated_at, last_message_at });
  }
});

test("tags of an earlier version are normalized by a change", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550129").write("hi");
  const { queries } = app.server.database;
  await queries
    .updateTable("conversations")
    .set({ tags: ["VIP", "vip", "Old"] })
    .where("id", "=", id)
    .execute();
  const { data } = await app.call(conversations.update_conversation, { id, remove_tags: ["old"] });
  expect(data.tags).toEqual(["vip"]);
});

test("a conversation has at most 200 tags, and at the limit one can replace another", async () => {
  const { conversation_id: id } = await openPhone(app, "+14155550199").write("hi");
  const tag = (change: object) => app.call(conversations.update_conversation, { id, ...change });
  const labels = (from: number) => Array.from({ length: 50 }, (_, index) => `label ${from + index}`);
  for (const from of [0, 50, 100, 150]) {
    await tag({ add_tags: labels(from) });
  }
  expect(await expectFailure(tag({ add_tags: ["one more"] }))).toMatchObject({
    status: 422,
    code: "too_many_tags",
  });
  const { data } = await tag({ add_tags: ["one more"], remove_tags: ["label 0"] });
  expect(data.tags).toHaveLength(200);
});
