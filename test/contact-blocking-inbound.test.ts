/** What blocked contacts write is stored and emitted, and starts nothing. */
import { expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { routing } from "../tools/routing.ts";
import { webhooks } from "../tools/webhooks.ts";
import { useTestApp } from "./support/app.ts";
import { openPhone } from "./support/simulator.ts";
import { createTeamWithMembers } from "./support/teams.ts";
import { startWaiting } from "./support/waiting.ts";

const app = useTestApp();

let last = 5_550_900;
const newNumber = () => {
  last += 1;
  return `+1415${last}`;
};

const block = (id: string, blocked = true) => app.call(contacts.update_contact, { id, blocked });
const readConversation = async (id: string) => (await app.call(conversations.get_conversation, { id })).data;

/** A contact who has written once. */
async function receiveFirst() {
  const to = newNumber();
  const phone = openPhone(app, to);
  const { conversation_id } = await phone.write("hi");
  const { contact_id } = await readConversation(conversation_id);
  /** Also those that were stored and not sent. */
  const replies = async () => {
    const { data } = await app.call(messages.list_messages, { conversation_id });
    return data.flatMap(({ direction, status }) => (direction === "outbound" ? status : []));
  };
  return { to, phone, replies, conversation_id, contact_id };
}

test("a blocked contact's message is stored, emitted and returned to waiting calls", async () => {
  const { phone, conversation_id, contact_id } = await receiveFirst();
  await block(contact_id);
  const { cursor } = (await app.call(webhooks.list_events, {})).meta;
  const { answer } = await startWaiting(() =>
    app.call(messages.wait_for_message, { conversation_id, timeout_seconds: 20 }),
  );
  const { message_id } = await phone.write("let me back in");
  expect((await answer).data).toMatchObject([{ id: message_id, text: { body: "let me back in" } }]);
  const { data: events } = await app.call(webhooks.list_events, { after: cursor });
  expect(events).toMatchObject([{ type: "message.received", data: { message_id } }]);
});

test.each(["open", "pending", "closed", "snoozed", "spam"] as const)(
  "in a conversation that is %s a blocked contact's message changes neither status nor waiting_since",
  async (status) => {
    const { phone, conversation_id: id, contact_id } = await receiveFirst();
    await app.call(conversations.update_conversation, { id, status: "closed" });
    const snoozed_until = new Date(app.now().getTime() + 3_600_000).toISOString();
    await app.call(conversations.update_conversation, {
      id,
      status,
      ...(status === "snoozed" ? { snoozed_until } : {}),
    });
    await block(contact_id);
    const before = await readConversation(id);
    await phone.write("hello?");
    const after = await readConversation(id);
    const { snoozed_until: until, assigned_to } = before;
    expect(after).toMatchObject({ status, snoozed_until: until, assigned_to, waiting_since: null });
    expect(after.is_unread).toBe(true);
  },
);

test("a blocked contact no longer waits for an answer once they write again", async () => {
  const { phone, conversation_id, contact_id } = await receiveFirst();
  expect((await readConversation(conversation_id)).waiting_since).toBe(app.now().toISOString());
  await block(contact_id);
  await phone.write("hello?");
  expect((await readConversation(conversation_id)).waiting_since).toBeNull();
});

test("a blocked contact's message is not routed; after unblocking the next one is handled as usual", async () => {
  const { id: target_id, users } = await createTeamWithMembers(app, {}, { Ada: {} });
  const { to, contact_id, phone, conversation_id } = await receiveFirst();
  const policy = { name: "all", strategy: "load_balanced", target_type: "team", target_id } as const;
  const { data } = await app.call(routing.create_routing_policy, policy);
  await block(contact_id);
  await app.call(conversations.update_conversation, { id: conversation_id, status: "closed" });
  await phone.write("hello?");
  await app.runDueJobs();
  const closed = { status: "closed", assigned_to: null, waiting_since: null };
  expect(await readConversation(conversation_id)).toMatchObject(closed);
  const decisions = await app.call(routing.list_routing_decisions, { id: conversation_id });
  expect(decisions.data).toEqual([]);

  await block(contact_id, false);
  const at = app.now().toISOString();
  await phone.write("thank you");
  await app.runDueJobs();
  const open = { status: "open", assigned_to: users.Ada, waiting_since: at };
  expect(await readConversation(conversation_id)).toMatchObject(open);
  const reply = { to, type: "text", text: { body: "Welcome back." } } as const;
  expect((await app.call(messages.send_message, reply)).data.status).toBe("queued");
  await app.call(routing.delete_routing_policy, { id: data.id });
});

test("a blocked contact who writes to another inbox starts nothing there", async () => {
  const { data: inbox } = await app.call(inboxes.create_inbox, { name: "New", phone_number: "+14155550898" });
  const { id: target_id } = await createTeamWithMembers(app, {}, { Ben: {} });
  const policy = { name: "new", strategy: "load_balanced", target_type: "team", target_id } as const;
  const { data } = await app.call(routing.create_routing_policy, policy);
  const { phone, contact_id } = await receiveFirst();
  await block(contact_id);
  const { conversation_id } = await phone.write("psst", { to: inbox.phone_number });
  await app.runDueJobs();
  const untouched = { inbox_id: inbox.id, assigned_to: null, waiting_since: null };
  expect(await readConversation(conversation_id)).toMatchObject(untouched);
  await app.call(routing.delete_routing_policy, { id: data.id });
});

test("a stop or start word of a blocked contact changes the consent and is not confirmed", async () => {
  const { phone, replies, contact_id } = await receiveFirst();
  await block(contact_id);
  const optedOut = async () => (await app.call(contacts.get_contact, { id: contact_id })).data.opted_out;
  await phone.write("STOP");
  expect(await optedOut()).toBe(true);
  await app.advanceTime(1_000);
  await phone.write("START");
  expect(await optedOut()).toBe(false);
  await app.advanceTime(1000);
  expect(await replies()).toEqual([]);
  await block(contact_id, false);
  await phone.write("STOP");
  await app.advanceTime(1000);
  expect(await replies()).toEqual(["delivered"]);
});

test("a confirmation that waits while its contact is blocked is not sent", async () => {
  const { phone, replies, contact_id } = await receiveFirst();
  await phone.write("STOP");
  await block(contact_id);
  await app.advanceTime(1000);
  expect(await replies()).toEqual(["failed"]);
});
