/** Calls on WhatsApp: one that nobody answered is shown in the conversation. */
import { beforeEach, expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { webhooks } from "../tools/webhooks.ts";
import type { TestApp } from "./support/app.ts";
import { deliver, type Inbox, messagesChange, sendText, useWhatsApp } from "./support/whatsapp.ts";

let app: TestApp;
let inbox: Inbox;
useWhatsApp((started) => {
  ({ app, inbox } = started);
});

/** A person of each test. */
let person = 14155558800;
let calls = 0;
beforeEach(() => {
  person += 1;
});

function call(more: object = {}) {
  calls += 1;
  const timestamp = String(Math.floor(app.now().getTime() / 1000));
  const value = {
    contacts: [{ profile: { name: "Ada" }, wa_id: String(person) }],
    calls: [
      {
        id: `wacid.${calls}`,
        to: "16315555555",
        from: String(person),
        event: "terminate",
        direction: "USER_INITIATED",
        timestamp,
        status: "FAILED",
        ...more,
      },
    ],
  };
  return { field: "calls", value: messagesChange(value).value };
}

async function readConversation() {
  const { data } = await app.call(conversations.list_conversations, {});
  const found = data.find(({ phone_number }) => phone_number === `+${person}`);
  const listed = found ? (await app.call(messages.list_messages, { conversation_id: found.id })).data : [];
  return { found, listed };
}

test("a missed call is a message of the person, once, and opens the 24-hour window", async () => {
  const { meta: start } = await app.call(webhooks.list_events, {});
  const missed = call({ cta_payload: "support" });
  await deliver(app, inbox, missed);
  await deliver(app, inbox, missed);
  const { found, listed } = await readConversation();
  expect(listed).toMatchObject([
    { direction: "inbound", type: "call", call: { status: "missed" }, summary: "Missed call." },
  ]);
  expect(found).toMatchObject({ status: "open", is_unread: true, unread_count: 1, contact_name: "Ada" });
  const ids = { conversation_id: found?.id ?? "", message_id: listed[0]?.id ?? "" };
  const { data } = await app.call(messages.get_message, ids);
  expect(data.channel_data).toEqual({ cta_payload: "support" });
  const events = await app.call(webhooks.list_events, { after: start.cursor, types: "message.received" });
  expect(events.data).toMatchObject([{ data: { ...ids, type: "call", call: { status: "missed" } } }]);
  const answer = await sendText(app, inbox, `+${person}`);
  expect((await answer.read()).status).toBe("sent");
});

test("of a person without a number, it is of the user id", async () => {
  const from_user_id = `US.88000${person}`;
  await deliver(app, inbox, call({ from: undefined, from_user_id }));
  const { data } = await app.call(conversations.list_conversations, {});
  const { data: listed } = await app.call(messages.list_messages, { conversation_id: data[0]?.id ?? "" });
  const shown = await app.call(messages.get_message, {
    conversation_id: data[0]?.id ?? "",
    message_id: listed[0]?.id ?? "",
  });
  expect(shown.data).toMatchObject({ type: "call", from: from_user_id });
});

test("calls that ring, that were answered, or that the business made are left out", async () => {
  const start_time = String(Math.floor(app.now().getTime() / 1000) - 60);
  await deliver(
    app,
    inbox,
    call({ event: "connect", status: undefined, session: { sdp_type: "offer", sdp: "v=0" } }),
    call({ status: "COMPLETED", start_time, end_time: start_time, duration: 60 }),
    call({ direction: "BUSINESS_INITIATED", from: "16315555555", to: String(person) }),
  );
  expect((await readConversation()).found).toBe(undefined);
});
