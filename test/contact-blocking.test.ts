/** Blocked contacts get no message: sends are rejected, and what waits in the queue fails. */
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import type { InputOf } from "../tools/contract/index.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { createOtherTenant } from "./support/other-tenant.ts";
import { openPhone, setFaults } from "./support/simulator.ts";

const app = useTestApp();

let last = 5_550_800;
const newNumber = () => {
  last += 1;
  return `+1415${last}`;
};

const update = async (input: InputOf<typeof contacts.update_contact>) =>
  (await app.call(contacts.update_contact, input)).data;
const block = (id: string, blocked = true) => update({ id, blocked });
const text = (to: string, fields: { inbox_id?: string } = {}) =>
  app.call(messages.send_message, { to, type: "text", text: { body: "hello" }, ...fields });
const sent = async (to: string) =>
  (await openPhone(app, to).listMessages()).filter(({ direction }) => direction === "outbound");
const readConversation = async (id: string) => (await app.call(conversations.get_conversation, { id })).data;

async function createContact({ isBlocked = true } = {}) {
  const to = newNumber();
  const { data } = await app.call(contacts.create_contact, { phone_number: to });
  return { to, ...(isBlocked ? await block(data.id) : data) };
}

/** A contact who has written once. */
async function receiveFirst(text = "hi", fields: object = {}) {
  const to = newNumber();
  const phone = openPhone(app, to);
  const { conversation_id } = await phone.write(text, fields);
  const { contact_id } = await readConversation(conversation_id);
  return { to, phone, conversation_id, contact_id };
}

async function readMessage({ data }: Awaited<ReturnType<typeof text>>) {
  const { id: message_id, conversation_id } = data;
  return (await app.call(messages.get_message, { message_id, conversation_id })).data;
}

test("a block has its time and a reason; a repeated block changes only a reason that is sent", async () => {
  const { id } = await createContact({ isBlocked: false });
  const blocked_at = app.now().toISOString();
  const first = await update({ id, blocked: true, blocked_reason: " Threatened the driver " });
  expect(first).toMatchObject({ blocked: true, blocked_reason: "Threatened the driver", blocked_at });
  await app.advanceTime(60_000);
  expect(await block(id)).toMatchObject({ blocked_reason: "Threatened the driver", blocked_at });
  const changed = await update({ id, blocked: true, blocked_reason: "Fraud" });
  expect(changed).toMatchObject({ blocked: true, blocked_reason: "Fraud", blocked_at });
  expect(await update({ id, blocked_reason: "Chargeback" })).toMatchObject({ blocked_reason: "Chargeback" });
  expect(await update({ id, blocked_reason: "" })).toMatchObject({ blocked: true, blocked_reason: null });
});

test("unblocking clears the reason and the time, and a new block has its own", async () => {
  const { id } = await createContact({ isBlocked: false });
  await update({ id, blocked: true, blocked_reason: "Fraud" });
  const unblocked = { blocked: false, blocked_reason: null, blocked_at: null };
  expect(await block(id, false)).toMatchObject(unblocked);
  expect((await app.call(contacts.get_contact, { id })).data).toMatchObject(unblocked);
  await app.advanceTime(60_000);
  const blocked_at = app.now().toISOString();
  expect(await block(id)).toMatchObject({ blocked: true, blocked_reason: null, blocked_at });
});

test("a reason without a block is rejected, and nothing is changed", async () => {
  const { id } = await createContact({ isBlocked: false });
  const missing = await expectFailure(update({ id, name: "Ada", blocked_reason: "Fraud" }));
  expect(missing).toMatchObject({ status: 400, code: "contact_not_blocked" });
  expect(missing.error).toMatchObject({ param: "blocked_reason" });
  const unblocking = await expectFailure(
    update({ id, name: "Ada", blocked: false, blocked_reason: "Fraud" }),
  );
  expect(unblocking).toMatchObject({ status: 400, code: "invalid_request" });
  expect(unblocking.error).toMatchObject({ param: "blocked_reason" });
  const long = await expectFailure(update({ id, blocked: true, blocked_reason: "x".repeat(501) }));
  expect(long.error).toMatchObject({ param: "blocked_reason" });
  const unchanged = { name: null, blocked: false, blocked_reason: null, blocked_at: null };
  expect((await app.call(contacts.get_contact, { id })).data).toMatchObject(unchanged);
});

test("a list of contacts shows who is blocked and who opted out", async () => {
  const blocked = await createContact();
  const optedOut = await createContact({ isBlocked: false });
  await update({ id: optedOut.id, opted_out: true });
  const find = async (search: string) => (await app.call(contacts.list_contacts, { search })).data;
  expect(await find(blocked.to)).toMatchObject([{ id: blocked.id, blocked: true, opted_out: false }]);
  expect(await find(optedOut.to)).toMatchObject([{ id: optedOut.id, blocked: false, opted_out: true }]);
  const { data } = await app.call(contacts.upsert_contact, { phone_number: blocked.to, name: "Ada" });
  expect(data).toMatchObject({ created: false, name: "Ada", blocked: true });
});

const contents: readonly Omit<InputOf<typeof messages.send_message>, "to">[] = [
  { type: "text", text: { body: "hello" } },
  ...(["image", "video", "document", "audio"] as const).map((type) => {
    return { type, media_url: "https://example.com/file" };
  }),
  { type: "interactive", interactive: { body: "?", buttons: [{ id: "y", title: "Yes" }] } },
];

test.each(contents)(
  "a message of type $type to a blocked contact is rejected and not stored",
  async (content) => {
    const { to, id } = await createContact();
    const failure = await expectFailure(app.call(messages.send_message, { to, ...content }));
    expect(failure).toMatchObject({ status: 422, code: "contact_blocked" });
    expect(failure.error).toMatchObject({ type: "business_rule", param: "to", contact_id: id });
    expect(failure.error?.fix).toContain("update_contact");
    expect((await app.call(conversations.list_conversations, { contact_id: id })).data).toEqual([]);
  },
);

test("the tools reject it too", async () => {
  const { to } = await createContact();
  const calls = [
    ["send_message", { to, body: "hello" }],
    ["send_media_message", { to, type: "image", media_url: "https://example.com/a.png" }],
    ["send_interactive_message", { to, body: "?", buttons: [{ id: "y", title: "Yes" }] }],
  ] as const;
  for (const [name, input] of calls) {
    const answer = await app.fetch("/v1/mcp/tools/call", {
      method: "POST",
      json: { name, arguments: input },
    });
    expect([name, answer.status]).toEqual([name, 422]);
    expect(await answer.text()).toContain("contact_blocked");
  }
});

test("no notation of the number and no other identity of the contact avoids the block", async () => {
  const user_id = "BR.13491208655302740801";
  const { conversation_id } = await openPhone(app, "+5511987650801").write("oi", { user_id });
  const { contact_id } = await readConversation(conversation_id);
  await block(contact_id);
  const addresses = ["+5511987650801", "+55 11 98765-0801", "00551187650801", "+551187650801", user_id];
  for (const to of addresses) {
    const failure = await expectFailure(text(to));
    expect([to, failure.code]).toEqual([to, "contact_blocked"]);
  }
  await block(contact_id, false);
  for (const to of addresses) {
    expect([to, (await text(to)).data.conversation_id]).toEqual([to, conversation_id]);
  }
});

test("an identity that a blocked contact adds by writing is blocked too", async () => {
  const { to, contact_id } = await receiveFirst();
  await block(contact_id);
  const user_id = "US.13491208655302740802";
  await openPhone(app, to).write("again", { user_id });
  expect(await expectFailure(text(user_id))).toMatchObject({ code: "contact_blocked" });
});

test("a contact whose number is hidden is blocked by its bsuid", async () => {
  const user_id = "US.13491208655302740803";
  const { conversation_id } = await openPhone(app, user_id).write("hi", { from: undefined, user_id });
  const waiting = await text(user_id);
  await block((await readConversation(conversation_id)).contact_id);
  expect(await expectFailure(text(user_id))).toMatchObject({ status: 422, code: "contact_blocked" });
  await app.runDueJobs();
  expect(await readMessage(waiting)).toMatchObject({ status: "failed", error: { code: "contact_blocked" } });
});

test("a block holds in every inbox", async () => {
  const { data: second } = await app.call(inboxes.create_inbox, {
    name: "Second",
    phone_number: "+14155550899",
  });
  const { to, contact_id } = await receiveFirst("hi", { to: second.phone_number });
  await block(contact_id);
  const { data } = await app.call(inboxes.list_inboxes, {});
  expect(data.map(({ id }) => id)).toContain(second.id);
  for (const { id: inbox_id } of data) {
    expect(await expectFailure(text(to, { inbox_id }))).toMatchObject({ code: "contact_blocked" });
  }
  const { meta } = await app.call(conversations.list_conversations, { contact_id });
  expect(meta.total).toBe(1);
});

test("another tenant can write to the same number, and can't block this tenant's contact", async () => {
  const { key, contact_id } = await createOtherTenant(app);
  const { to, id } = await createContact();
  const input = { to, type: "text", text: { body: "theirs" } } as const;
  expect((await app.call(messages.send_message, input, { key })).data.status).toBe("queued");
  await app.runDueJobs();
  expect(await openPhone(app, to, key).listMessages()).toHaveLength(1);
  expect(await expectFailure(block(contact_id))).toMatchObject({ status: 404, code: "contact_not_found" });
  const foreign = app.call(contacts.update_contact, { id, blocked: false }, { key });
  expect(await expectFailure(foreign)).toMatchObject({ status: 404, code: "contact_not_found" });
  expect(await expectFailure(text(to))).toMatchObject({ code: "contact_blocked" });
});

test("a message that waits while its contact is blocked fails and never reaches the channel", async () => {
  const { to, contact_id } = await receiveFirst();
  const messageIds = [await text(to), await text(to)];
  await block(contact_id);
  await app.advanceTime(1000);
  for (const message of messageIds) {
    const error = { code: "contact_blocked", channel_code: null, retryable: false };
    expect(await readMessage(message)).toMatchObject({ status: "failed", error });
  }
  expect(await sent(to)).toEqual([]);
});

test("a message that a busy channel returned is not sent after the contact was blocked", async () => {
  const { to, contact_id } = await receiveFirst();
  await setFaults(app, { failures: [{ code: 130429, share: 1 }] });
  const message = await text(to);
  await app.runDueJobs();
  await setFaults(app, {});
  await block(contact_id);
  await app.advanceTime(3_600_000);
  expect(await readMessage(message)).toMatchObject({ status: "failed", error: { code: "contact_blocked" } });
  expect(await sent(to)).toEqual([]);
});

test("a message claimed before a crash is not sent to a contact blocked since", async () => {
  const { to, contact_id } = await receiveFirst();
  const message = await text(to);
  await app.server.database.queries
    .updateTable("messages")
    .set({ status: "sending", claimed_at: app.now().toISOString() })
    .where("id", "=", message.data.id)
    .execute();
  await block(contact_id);
  await app.runDueJobs();
  expect(await readMessage(message)).toMatchObject({ status: "failed", error: { code: "contact_blocked" } });
  expect(await sent(to)).toEqual([]);
});

test("a message is sent if the contact was unblocked before its turn, and others are not affected", async () => {
  const { to, contact_id } = await receiveFirst();
  const other = await receiveFirst();
  const waiting = [await text(to), await text(other.to)];
  await block(contact_id);
  await block(contact_id, false);
  const { contact_id: blocked } = await receiveFirst();
  await block(blocked);
  await app.advanceTime(1000);
  for (const message of waiting) {
    expect(await readMessage(message)).toMatchObject({ status: "delivered", error: null });
  }
});

test("of messages sent while the contact is being blocked none reaches the channel after the block", async () => {
  const { to, contact_id } = await receiveFirst();
  const sends = Array.from({ length: 10 }, () => text(to).catch((error: unknown) => error));
  const [, ...outcomes] = await Promise.all([block(contact_id), ...sends]);
  await app.advanceTime(1000);
  expect(await sent(to)).toEqual([]);
  const { data } = await app.call(messages.list_messages, {
    conversation_id: (await app.call(conversations.list_conversations, { contact_id })).data[0]?.id ?? "",
  });
  const failed = data.filter(({ error }) => error?.code === "contact_blocked");
  const rejected = outcomes.filter((one) => (one as { code?: string }).code === "contact_blocked");
  expect(failed.length + rejected.length).toBe(sends.length);
});
