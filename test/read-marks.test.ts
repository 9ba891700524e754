/** Read marks and typing: what contacts see when their conversation is read, on a channel that shows it. */
import { beforeEach, describe, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { expectFailure } from "./support/expect-failure.ts";
import {
  deliver,
  graphError,
  inboundText,
  messagesChange,
  type StartedWhatsApp,
  sendText,
  useWhatsApp,
} from "./support/whatsapp.ts";
import { startEmulatedWhatsApp } from "./support/whatsapp-channel.ts";

let whatsApp: StartedWhatsApp;
useWhatsApp((started) => {
  whatsApp = started;
});

type ReadMarks = "off" | "read" | "typing";

const setMarks = (read_marks: ReadMarks) =>
  whatsApp.app.call(inboxes.update_inbox, { id: whatsApp.inbox.id, settings: { read_marks } });

let last = 100;
let from = "";
beforeEach(async () => {
  last += 1;
  from = `14155552${last}`;
  await setMarks("read");
});

/** The contact writes. Returns the channel's id of the message, and its conversation. */
async function write(body = "Hello") {
  const { app, inbox } = whatsApp;
  const timestamp = String(Math.floor(app.now().getTime() / 1000));
  const message = inboundText(body, { from, timestamp });
  await deliver(app, inbox, messagesChange({ messages: [message] }));
  const { data } = await app.call(conversations.list_conversations, {});
  const own = data.find(({ phone_number }) => phone_number === `+${from}`);
  return { wamid: message.id, conversation_id: own?.id ?? "" };
}

/** The marks that WhatsApp got for a message. */
const marksOf = (wamid: string) =>
  whatsApp.graph.sent().filter(({ status, message_id }) => status === "read" && message_id === wamid);

async function markConversation(id: string) {
  await whatsApp.app.call(conversations.update_conversation, { id, is_unread: false });
  await whatsApp.app.runDueJobs();
}

const mark = (message_id: string) => ({ messaging_product: "whatsapp", status: "read", message_id });

test("a conversation that is marked as read shows the contact that it was read, once", async () => {
  const { wamid, conversation_id } = await write();
  expect(marksOf(wamid)).toEqual([]);
  await markConversation(conversation_id);
  await markConversation(conversation_id);
  expect(marksOf(wamid)).toEqual([mark(wamid)]);
});

test("an answer marks what it answers", async () => {
  const { app, inbox } = whatsApp;
  const { wamid } = await write();
  await sendText(app, inbox, `+${from}`);
  await sendText(app, inbox, `+${from}`);
  expect(marksOf(wamid)).toEqual([mark(wamid)]);
});

test("the latest message is marked, and a later one again", async () => {
  const first = await write("One");
  const second = await write("Two");
  await markConversation(first.conversation_id);
  const third = await write("Three");
  await markConversation(first.conversation_id);
  expect(marksOf(first.wamid)).toEqual([]);
  expect(marksOf(second.wamid)).toEqual([mark(second.wamid)]);
  expect(marksOf(third.wamid)).toEqual([mark(third.wamid)]);
});

test("a message that arrives after the reading is not marked", async () => {
  const { app } = whatsApp;
  const { wamid, conversation_id: id } = await write();
  whatsApp.graph.routes["POST messages"] = () => graphError(131000, { is_transient: true });
  await markConversation(id);
  await app.advanceTime(10);
  const later = await write("Later");
  whatsApp.graph.routes["POST messages"] = () => ({ body: { success: true } });
  await app.advanceTime(3_600_000);
  expect(marksOf(wamid).length).toBeGreaterThan(1);
  expect(marksOf(later.wamid)).toEqual([]);
});

test("with typing, a mark shows that an answer is being written, and an answer does not", async () => {
  const { app, inbox } = whatsApp;
  await setMarks("typing");
  const first = await write();
  await markConversation(first.conversation_id);
  expect(marksOf(first.wamid)).toEqual([{ ...mark(first.wamid), typing_indicator: { type: "text" } }]);
  const second = await write();
  await sendText(app, inbox, `+${from}`);
  expect(marksOf(second.wamid)).toEqual([mark(second.wamid)]);
});

describe("no mark is sent", () => {
  test("by default", async () => {
    const { app, inbox } = whatsApp;
    await app.call(inboxes.update_inbox, { id: inbox.id, settings: {} });
    const { wamid, conversation_id } = await write();
    await markConversation(conversation_id);
    await sendText(app, inbox, `+${from}`);
    expect(marksOf(wamid)).toEqual([]);
  });

  test("by reading", async () => {
    const { app } = whatsApp;
    const { wamid, conversation_id } = await write();
    await app.call(conversations.get_conversation, { id: conversation_id });
    await app.call(messages.get_conversation_context, { id: conversation_id });
    await app.call(messages.list_messages, { conversation_id });
    await app.runDueJobs();
    expect(marksOf(wamid)).toEqual([]);
  });

  test("by a change of other marks, or back to unread", async () => {
    const { app } = whatsApp;
    const { wamid, conversation_id: id } = await write();
    await app.call(conversations.update_conversation, { id, is_favorite: true });
    await app.call(conversations.update_conversation, { id, is_unread: true });
    await app.runDueJobs();
    expect(marksOf(wamid)).toEqual([]);
  });

  test("to a blocked contact", async () => {
    const { app } = whatsApp;
    const { wamid, conversation_id } = await write();
    const { data } = await app.call(conversations.get_conversation, { id: conversation_id });
    await app.call(contacts.update_contact, { id: data.contact_id, blocked: true });
    await markConversation(conversation_id);
    expect(marksOf(wamid)).toEqual([]);
  });

  test("again after WhatsApp rejected it for good", async () => {
    const { wamid, conversation_id } = await write();
    whatsApp.graph.routes["POST messages"] = () => graphError(131009);
    await markConversation(conversation_id);
    await whatsApp.app.advanceTime(3_600_000);
    whatsApp.graph.routes["POST messages"] = () => ({ body: { success: true } });
    await markConversation(conversation_id);
    expect(marksOf(wamid)).toEqual([mark(wamid)]);
  });
});

test("a simulated inbox takes no read marks", async () => {
  const { app } = whatsApp;
  const { data } = await app.call(inboxes.list_inboxes, {});
  const id = data.find(({ simulated }) => simulated)?.id ?? "";
  for (const read_marks of ["read", "typing"] as const) {
    const failure = await expectFailure(app.call(inboxes.update_inbox, { id, settings: { read_marks } }));
    expect(failure).toMatchObject({
      code: "read_marks_not_supported",
      error: { param: "settings.read_marks" },
    });
  }
  await app.call(inboxes.update_inbox, { id, settings: { read_marks: "off" } });
});

test("on the customer's phone the message is read, and typing shows for 25 seconds", async () => {
  const { app, emulator, inbox, control, advance } = await startEmulatedWhatsApp();
  await using _app = app;
  await using _emulator = emulator;
  await app.call(inboxes.update_inbox, { id: inbox.id, settings: { read_marks: "typing" } });
  await control("POST", "/inbound", { from: "14155550123", text: "Hello?" });
  await advance(1_000);
  const { data } = await app.call(conversations.list_conversations, {});
  await app.call(conversations.update_conversation, { id: data[0]?.id ?? "", is_unread: false });
  await app.runDueJobs();
  const phone = await control("GET", "/customers/14155550123/messages");
  expect(phone.typing).toHaveLength(1);
  expect(phone.data[0]).toMatchObject({ direction: "inbound", read_at: expect.any(String) });
  emulator.clock.advance(25_000);
  expect((await control("GET", "/customers/14155550123/messages")).typing).toEqual([]);
});
