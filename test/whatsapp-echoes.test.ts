/** What the owner of a number writes with the WhatsApp Business app: an answer by a person. */
import { beforeEach, expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import type { LanguageModel } from "../src/ports/models/language-model.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { wallet } from "../tools/wallet.ts";
import { webhooks } from "../tools/webhooks.ts";
import type { TestApp } from "./support/app.ts";
import { createChatbotHelpers } from "./support/chatbot.ts";
import { jpeg } from "./support/files.ts";
import { waitUntil } from "./support/served-process.ts";
import {
  deliver,
  envelope,
  type GraphApi,
  type Inbox,
  inboundText,
  messagesChange,
  postWebhook,
  useWhatsApp,
} from "./support/whatsapp.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
let graph: GraphApi;
let app: TestApp;
let inbox: Inbox;
useWhatsApp(
  (started) => {
    ({ graph, app, inbox } = started);
    graph.routes["GET 3001"] = () => ({ body: { url: `${graph.url}/file/content` } });
    graph.routes["GET content"] = () => ({ body: jpeg, headers: { "content-type": "image/jpeg" } });
  },
  { enabledModules: { ...modules, probe } },
);

/** A person of each test. */
let person = 14155553300;
beforeEach(() => {
  person += 1;
});

let echoes = 0;

/** The owner writes to the person. */
function echo(body: string, more: object = {}) {
  echoes += 1;
  const timestamp = String(Math.floor(app.now().getTime() / 1000));
  const from = "16315555555";
  const message = { ...inboundText(body), id: `wamid.echo${echoes}`, from, to: String(person), timestamp };
  const { value } = messagesChange({ message_echoes: [{ ...message, ...more }] });
  return { field: "smb_message_echoes", value };
}

const write = (body: string) => {
  const timestamp = String(Math.floor(app.now().getTime() / 1000));
  return deliver(
    app,
    inbox,
    messagesChange({ messages: [inboundText(body, { from: String(person), timestamp })] }),
  );
};

async function readConversation() {
  const { data } = await app.call(conversations.list_conversations, {});
  const found = data.find(({ phone_number }) => phone_number === `+${person}`);
  const { data: listed } = await app.call(messages.list_messages, { conversation_id: found?.id ?? "" });
  return { id: found?.id ?? "", found, listed };
}

test("it is shown as sent on the phone, once, and answers the contact", async () => {
  await write("Are you open?");
  const { data: before } = await app.call(wallet.get_wallet, {});
  const { meta: start } = await app.call(webhooks.list_events, {});
  const answer = echo("Until six.");
  await deliver(app, inbox, answer);
  await deliver(app, inbox, answer);
  const { id, found, listed } = await readConversation();
  expect(listed.map(({ text }) => text?.body)).toEqual(["Until six.", "Are you open?"]);
  expect(listed[0]).toMatchObject({
    direction: "outbound",
    status: "sent",
    sent_by: { type: "phone", id: inbox.id, name: inbox.name },
  });
  expect(found).toMatchObject({ is_unread: false, waiting_since: null, status: "open" });
  const { data: events } = await app.call(webhooks.list_events, { after: start.cursor });
  expect(events.filter(({ type }) => type.startsWith("message."))).toMatchObject([
    { type: "message.sent", data: { conversation_id: id, to: `+${person}`, status: "sent" } },
  ]);
  expect((await app.call(wallet.get_wallet, {})).data).toEqual(before);
  expect(graph.sent()).toEqual([]);
});

test("its receipts count, also those that come before it", async () => {
  const answer = echo("Until six.");
  const timestamp = String(Math.floor(app.now().getTime() / 1000));
  const receipt = (status: string) => ({ id: `wamid.echo${echoes}`, status, timestamp });
  await deliver(app, inbox, messagesChange({ statuses: [receipt("delivered")] }));
  await deliver(app, inbox, answer);
  const { id, listed } = await readConversation();
  expect(listed[0]?.status).toBe("delivered");
  await deliver(app, inbox, messagesChange({ statuses: [receipt("read")] }));
  const { data } = await app.call(messages.list_messages, { conversation_id: id });
  expect(data[0]?.status).toBe("read");
});

test("it opens no window, and a contact who never wrote has a conversation", async () => {
  await deliver(app, inbox, echo("Your canoe is ready."));
  const { found, listed } = await readConversation();
  expect(listed).toHaveLength(1);
  const { data } = await app.call(conversations.get_conversation, { id: found?.id ?? "" });
  expect(data).toMatchObject({ last_user_message_at: null, is_unread: false, is_within_24h_window: false });
});

test("its file is copied, and is deleted with the contact", async () => {
  await write("Show me");
  const image = { id: "3001", mime_type: "image/jpeg", caption: "This one" };
  await deliver(app, inbox, echo("", { type: "image", text: undefined, image }));
  const { found, listed } = await readConversation();
  expect(listed[0]).toMatchObject({ direction: "outbound", media: { caption: "This one" } });
  const { pathname, search } = new URL(listed[0]?.media?.url ?? "");
  expect((await app.fetch(pathname + search, { key: null })).status).toBe(200);
  await app.call(contacts.delete_contact, { id: found?.contact_id ?? "" });
  await app.runDueJobs();
  expect((await app.fetch(pathname + search, { key: null })).status).toBe(404);
});

test("the bot is silent from then on, also in an answer that is under way", async () => {
  const bot = createChatbotHelpers(app);
  await bot.configure();
  await bot.addPair("What are your opening hours?", "9 to 17.");
  await app.call(inboxes.update_inbox, { id: inbox.id, settings: { chatbot: true } });
  const world = await readWorld(app);
  const languageModel: LanguageModel = {
    model: "slow-1",
    async complete() {
      // Without running jobs, of which this answer is one.
      await postWebhook(app, inbox, { body: JSON.stringify(envelope(echo("A person."))) });
      const isStored = async () =>
        (await readConversation()).listed.some(({ sent_by }) => sent_by?.type === "phone");
      await waitUntil(isStored);
      return { outcome: "answered", text: "Too late [1].", usage: null };
    },
  };
  Object.assign(world, { languageModel });
  await write("What are your opening hours?");
  await app.advanceTime(2_000);
  Object.assign(world, { languageModel: undefined });
  await write("What are your opening hours?");
  await app.advanceTime(2_000);
  const { id, listed } = await readConversation();
  expect(listed.flatMap(({ direction, text }) => (direction === "outbound" ? [text?.body] : []))).toEqual([
    "A person.",
  ]);
  expect((await bot.contextOf(id)).chatbot).toMatchObject({ state: "ended", reason: "person_replied" });
  await app.call(inboxes.update_inbox, { id: inbox.id, settings: { chatbot: false } });
});

test("reactions, edits and groups of the owner are left out", async () => {
  await write("Hello");
  const before = await readConversation();
  const reaction = { message_id: "wamid.in1", emoji: "👍" };
  await deliver(app, inbox, echo("", { type: "reaction", reaction }), echo("Hi all", { group_id: "G" }));
  expect((await readConversation()).listed).toEqual(before.listed);
});
