/** Since when a contact waits: what answers a contact, and what does not. */
import { beforeAll, describe, expect, test } from "vitest";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { createBroadcastHelpers } from "./support/broadcasts.ts";
import { createChatbotHelpers } from "./support/chatbot.ts";
import { createFlowHelpers, say } from "./support/flows.ts";
import { openPhone } from "./support/simulator.ts";
import { createTemplateHelpers } from "./support/templates.ts";

const app = useTestApp();
const audience = createBroadcastHelpers(app);
const bot = createChatbotHelpers(app);
const { create } = createFlowHelpers(app);
const { send } = createTemplateHelpers(app);

const question = "What are your opening hours?";
let count = 0;

beforeAll(async () => {
  await bot.configure();
  await bot.addPair(question, "9 to 17.");
  await audience.approve({ name: "parcel" });
});

const newNumber = () => `+1415555${8000 + count++}`;

/** Writes, and lets time pass; returns the conversation's id and when the contact wrote. */
async function write(number: string, text: string) {
  const since = app.now().toISOString();
  const { conversation_id: id } = await openPhone(app, number).write(text);
  await app.advanceTime(2_000);
  return { id, since };
}

/** Since when the contact waits, by the conversation; null if the list of the unanswered is without it. */
async function waitingSince(id: string) {
  const { waiting_since } = (await app.call(conversations.get_conversation, { id })).data;
  const { data } = await app.call(conversations.list_conversations, { filter: "unanswered", per_page: 100 });
  expect(data.find((one) => one.id === id)?.waiting_since ?? null).toBe(waiting_since);
  return waiting_since;
}

describe("a contact who waits for an answer still waits after", () => {
  test("a template of a key to the number or the contact", async () => {
    const number = newNumber();
    const { id, since } = await write(number, "My invoice is wrong");
    await send(number, { name: "parcel" });
    const { contact_id } = (await app.call(conversations.get_conversation, { id })).data;
    await send(contact_id, { name: "parcel" });
    expect(await waitingSince(id)).toBe(since);
  });

  test("a template of a flow", async () => {
    const template = { name: "parcel", language: "en" };
    await create([{ id: "parcel", node_type: "send_template", action_config: template }], {
      trigger_keyword: "receipt",
    });
    const { id, since } = await write(newNumber(), "My receipt is wrong");
    const { data } = await app.call(messages.list_messages, { conversation_id: id });
    expect(data[0]).toMatchObject({ type: "template", sent_by: { type: "flow" } });
    expect(await waitingSince(id)).toBe(since);
  });

  test("a message of a flow", async () => {
    await create([say("We have got your message.")], { trigger_keyword: "invoice" });
    const { id, since } = await write(newNumber(), "My invoice is wrong");
    expect(await waitingSince(id)).toBe(since);
  });

  test("a broadcast", async () => {
    const number = newNumber();
    const { cohort } = await audience.createCohort([number]);
    const { id, since } = await write(number, "My bill is wrong");
    const template = await audience.approve({ name: "news" });
    const { id: broadcast } = await audience.create({
      name: "News",
      template_id: template.id,
      cohort_id: cohort.id,
    });
    await audience.execute(broadcast);
    await audience.deliver();
    expect(await waitingSince(id)).toBe(since);
  });

  test("the bot's hand-off", async () => {
    await bot.setInbox(true);
    const { id, since } = await write(newNumber(), "Do you sell giraffes?");
    expect((await bot.contextOf(id)).chatbot?.state).toBe("handed_off");
    expect(await waitingSince(id)).toBe(since);
    await bot.setInbox(false);
  });
});

describe("a contact waits no longer after", () => {
  test("a text of a key", async () => {
    const number = newNumber();
    const { id } = await write(number, "My bill is wrong");
    await app.call(messages.send_message, { to: number, type: "text", text: { body: "Let me see." } });
    expect(await waitingSince(id)).toBeNull();
  });

  test("a template of a key to the conversation", async () => {
    const { id } = await write(newNumber(), "My letter is wrong");
    await send(id, { name: "parcel" });
    expect(await waitingSince(id)).toBeNull();
  });

  test("a template of a key that quotes the contact", async () => {
    const number = newNumber();
    const { id } = await write(number, "My address is wrong");
    const [message] = (await app.call(messages.list_messages, { conversation_id: id })).data;
    await app.call(messages.send_message, {
      to: number,
      type: "template",
      template: { name: "parcel", language: "en" },
      reply_to: message?.id,
    });
    expect(await waitingSince(id)).toBeNull();
  });

  test("an answer of the bot", async () => {
    await bot.setInbox(true);
    const { id } = await write(newNumber(), question);
    expect((await bot.turnsOf(id)).map(({ status }) => status)).toEqual(["answered"]);
    expect(await waitingSince(id)).toBeNull();
    await bot.setInbox(false);
  });
});
