/** The bot in conversations: when it answers, that it answers each message once, and when it is silent. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Database, TransactionWork } from "../src/database/database.ts";
import type { Attempt } from "../src/jobs/job.ts";
import { receiveJob } from "../src/platform/automation/chatbot/conversations/index.ts";
import { modules } from "../src/platform/index.ts";
import type { LanguageModel } from "../src/ports/models/language-model.ts";
import { billing } from "../tools/billing.ts";
import { contacts } from "../tools/contacts.ts";
import { conversations } from "../tools/conversations.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { createChatbotHelpers, handoffText } from "./support/chatbot.ts";
import { chain, createFlowHelpers, say } from "./support/flows.ts";
import { openPhone } from "./support/simulator.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });
const bot = createChatbotHelpers(app);
const { create, runsOf } = createFlowHelpers(app);

const firstAttempt: Attempt = {
  id: "job_1",
  organization_id: null,
  number: 1,
  isLast: false,
  dueAt: "2026-01-01T00:00:00.000Z",
  isTakeover: false,
  traceparent: null,
  signal: new AbortController().signal,
  startNow: async () => undefined,
  requireClock() {},
  backOff() {},
};

/** Makes the model's answers come after something else, until the returned function is called. */
async function answerSlowly(meanwhile: () => Promise<unknown>) {
  const world = await readWorld(app);
  const languageModel: LanguageModel = {
    model: "slow-1",
    async complete() {
      await meanwhile();
      return { outcome: "answered", text: "Too late [1].", usage: null };
    },
  };
  Object.assign(world, { languageModel });
  return () => void Object.assign(world, { languageModel: undefined });
}

const hours = "What are your opening hours?";
const answer = "Monday to Friday, 9 to 17.";
const unknown = "Do you sell giraffes?";

beforeAll(async () => {
  await bot.configure();
  await bot.addPair(hours, answer);
});

describe("an inbox of the bot", () => {
  beforeAll(() => bot.setInbox(true));

  test("answers each message once, as the bot, and leaves the conversation to it", async () => {
    const phone = "+14155550101";
    const id = await bot.write(phone, hours);
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual([answer, answer]);
    const context = await bot.contextOf(id);
    expect(context.chatbot).toMatchObject({ state: "active", handed_off: null });
    expect(context.messages.at(-1)?.sent_by).toMatchObject({ type: "bot", name: "Chatbot" });
    const turns = await bot.turnsOf(id);
    expect(turns.map(({ status }) => status)).toEqual(["answered", "answered"]);
    const inbound = context.messages.filter(({ direction }) => direction === "inbound");
    expect(turns.map(({ message_id }) => message_id)).toEqual(inbound.map((message) => message.id));
  });

  test("hands over what it does not know, with a note, and is silent until the conversation was closed", async () => {
    const phone = "+14155550102";
    const id = await bot.write(phone, unknown);
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual([handoffText]);
    expect((await bot.contextOf(id)).chatbot).toMatchObject({
      state: "handed_off",
      reason: "not_found",
      handed_off: { reason: "not_found", question: unknown },
    });
    await app.call(conversations.update_conversation, { id, status: "closed" });
    expect((await bot.contextOf(id)).chatbot).toMatchObject({ state: "ended", reason: "closed" });
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual([handoffText, answer]);
  });

  test("is silent after a stop word: the contact gets its confirmation alone", async () => {
    const phone = "+14155550190";
    const id = await bot.write(phone, "STOP");
    await bot.write(phone, "stop");
    expect(await bot.sentTo(phone)).toEqual([expect.stringContaining("Reply START")]);
    expect(await bot.turnsOf(id)).toEqual([]);
    await bot.write(phone, hours);
    expect((await bot.sentTo(phone)).at(-1)).toBe(answer);
  });

  test("is silent after a person replied, also in an answer that is under way", async () => {
    const phone = "+14155550103";
    const id = await bot.write(phone, hours);
    await app.call(messages.send_message, { to: phone, type: "text", text: { body: "I am here." } });
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual([answer, "I am here."]);
    expect((await bot.contextOf(id)).chatbot).toMatchObject({ state: "ended", reason: "person_replied" });

    const other = "+14155550104";
    const restore = await answerSlowly(() =>
      app.call(messages.send_message, { to: other, type: "text", text: { body: "A person." } }),
    );
    const conversation_id = await bot.write(other, hours);
    restore();
    expect(await bot.sentTo(other)).toEqual(["A person."]);
    expect(await bot.turnsOf(conversation_id)).toMatchObject([{ status: "skipped", answer: null }]);
  });

  test("is silent if the conversation had an agent before the inbox became the bot's", async () => {
    const phone = "+14155550115";
    await bot.setInbox(false);
    const id = await bot.write(phone, hours);
    const [user] = await app.server.database.queries.selectFrom("users").select("id").execute();
    await app.call(conversations.assign_conversation, { id, assigned_to: user?.id ?? "" });
    await bot.setInbox(true);
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual([]);
    expect((await bot.contextOf(id)).chatbot).toBeNull();
  });

  test("does not send an answer to a contact who was blocked meanwhile", async () => {
    const phone = "+14155550113";
    const { data: contact } = await app.call(contacts.create_contact, { phone_number: phone });
    const restore = await answerSlowly(() =>
      app.call(contacts.update_contact, { id: contact.id, blocked: true }),
    );
    const id = await bot.write(phone, hours);
    restore();
    expect(await bot.sentTo(phone)).toEqual([]);
    expect(await bot.turnsOf(id)).toMatchObject([{ status: "skipped", reason: "blocked" }]);
  });

  test("does not answer a message again that another run of its job has answered meanwhile", async () => {
    const phone = "+14155550114";
    const world = await readWorld(app);
    const languageModel: LanguageModel = {
      model: "slow-1",
      async complete() {
        const { queries } = app.server.database;
        await queries
          .updateTable("chatbot_turns")
          .set({ status: "answered" })
          .where("status", "=", "pending")
          .execute();
        return { outcome: "answered", text: "Again [1].", usage: null };
      },
    };
    Object.assign(world, { languageModel });
    await bot.write(phone, hours);
    Object.assign(world, { languageModel: undefined });
    expect(await bot.sentTo(phone)).toEqual([]);
  });

  test("is silent in a conversation with an agent, and for a blocked contact", async () => {
    const phone = "+14155550105";
    const id = await bot.write(phone, hours);
    const [user] = await app.server.database.queries.selectFrom("users").select("id").execute();
    await app.call(conversations.assign_conversation, { id, assigned_to: user?.id ?? "" });
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual([answer]);
    expect((await bot.contextOf(id)).chatbot).toMatchObject({ state: "ended", reason: "assigned" });

    const blocked = "+14155550106";
    const other = await bot.write(blocked, hours);
    const { contact } = await bot.contextOf(other);
    await app.call(contacts.update_contact, { id: contact.id, blocked: true });
    await bot.write(blocked, hours);
    expect(await bot.sentTo(blocked)).toEqual([answer]);
  });

  test("answers the latest of several messages, which covers the others", async () => {
    const phone = "+14155550107";
    const { message_id, conversation_id } = await openPhone(app, phone).write("One moment");
    const later = [await openPhone(app, phone).write("please"), await openPhone(app, phone).write(hours)];
    // All have come before the first answer is composed.
    const world = await readWorld(app);
    const { organization_id } = await bot.conversation(conversation_id);
    for (const message of [{ message_id }, ...later]) {
      const payload = { organization_id, conversation_id, message_id: message.message_id };
      await receiveJob.run(payload, world, firstAttempt);
    }
    await app.advanceTime(2_000);
    expect(await bot.sentTo(phone)).toEqual([answer]);
    const turns = await bot.turnsOf(conversation_id);
    expect(turns.map(({ status }) => status)).toEqual(["covered", "covered", "answered"]);
  });

  test("covers earlier messages also if it does not answer the latest", async () => {
    const phone = "+14155550117";
    const { data: contact } = await app.call(contacts.create_contact, { phone_number: phone });
    const restore = await answerSlowly(() =>
      app.call(contacts.update_contact, { id: contact.id, blocked: true }),
    );
    const { conversation_id } = await openPhone(app, phone).write("One moment");
    await openPhone(app, phone).write(hours);
    await app.advanceTime(2_000);
    restore();
    const turns = await bot.turnsOf(conversation_id);
    expect(turns.map(({ status }) => status)).toEqual(["covered", "skipped"]);
  });

  test("leaves a message to the flow that waits for it, and to the flow that it starts", async () => {
    const phone = "+14155550108";
    const ask = {
      id: "ask",
      node_type: "ask",
      action_config: { text: "Which one?", save_as: "one" },
    } as const;
    await create(chain(ask, say("Noted.")), { trigger_keyword: "begin" });
    await bot.write(phone, "begin");
    await bot.write(phone, hours);
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual(["Which one?", "Noted.", answer]);
  });

  test("without allowance a person takes over, and nothing is sent", async () => {
    await app.call(billing.subscribe_chatbot_addon, { billing_unit: "per_message", cost_per_unit: 1 });
    const { queries } = app.server.database;
    await queries
      .updateTable("chatbot_addons")
      .set({ status: "suspended", trial_units_remaining: 0 })
      .execute();
    const phone = "+14155550109";
    const id = await bot.write(phone, hours);
    await queries.deleteFrom("chatbot_addons").execute();
    expect(await bot.sentTo(phone)).toEqual([]);
    expect((await bot.contextOf(id)).chatbot).toMatchObject({
      handed_off: { reason: "insufficient_funds", question: hours },
    });
  });
});

class Crash extends Error {}

test.each(["before", "after"] as const)(
  "a crash %s any commit: each message is answered once and counted once",
  async (when) => {
    await bot.setInbox(true);
    await app.call(billing.subscribe_chatbot_addon, { billing_unit: "per_message", cost_per_unit: 0 });
    const { database } = await readWorld(app);
    const { transaction } = database;
    let count = 0;
    const crashing: Database["transaction"] = async <Result>(
      work: TransactionWork<Result>,
      options?: Parameters<Database["transaction"]>[1],
    ) => {
      count += 1;
      if (count % 3 !== 0) {
        return transaction(work, options);
      }
      await transaction(async (tx) => {
        await work(tx);
        if (when === "before") {
          throw new Crash();
        }
      }, options);
      throw new Crash();
    };
    const phones = [1, 2, 3, 4].map((n) => `+1415555${when === "before" ? 2 : 3}00${n}`);
    const ids: string[] = [];
    for (const phone of phones) {
      ids.push((await openPhone(app, phone).write(hours)).conversation_id);
    }
    Object.assign(database, { transaction: crashing });
    for (let round = 0; round < 8; round += 1) {
      await app.advanceTime(60_000).catch(() => undefined);
    }
    Object.assign(database, { transaction });
    await app.advanceTime(10 * 60_000);
    await app.advanceTime(60 * 60_000);
    expect(count).toBeGreaterThan(8);
    for (const [index, phone] of phones.entries()) {
      expect(await bot.sentTo(phone)).toEqual([answer]);
      expect(await bot.turnsOf(ids[index] ?? "")).toMatchObject([{ status: "answered" }]);
    }
    const { queries } = app.server.database;
    const units = await queries.selectFrom("chatbot_units").select("conversation_id").execute();
    expect(units.map(({ conversation_id }) => conversation_id).sort()).toEqual([...ids].sort());
    await queries.deleteFrom("chatbot_units").execute();
    await queries.deleteFrom("chatbot_addons").execute();
  },
);

describe("a flow", () => {
  beforeAll(() => bot.setInbox(false));

  test("hands the conversation to the bot by its node, from the next message on", async () => {
    const phone = "+14155550110";
    await create(chain(say("Ask me."), { id: "bot", node_type: "chatbot" }), { trigger_keyword: "robot" });
    const id = await bot.write(phone, "robot");
    expect((await runsOf(id)).map(({ status, reason }) => [status, reason])).toEqual([
      ["completed", "handed_over"],
    ]);
    await bot.write(phone, hours);
    await bot.write(phone, unknown);
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual(["Ask me.", answer, handoffText]);
  });

  test("hands it over by its end action", async () => {
    const phone = "+14155550111";
    await create([say("Bye from the flow.")], {
      trigger_keyword: "machine",
      end_action_type: "handoff_chatbot",
    });
    await bot.write(phone, "machine");
    await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual(["Bye from the flow.", answer]);
  });

  test("other inboxes and conversations have no bot", async () => {
    const phone = "+14155550112";
    const id = await bot.write(phone, hours);
    expect(await bot.sentTo(phone)).toEqual([]);
    expect((await bot.contextOf(id)).chatbot).toBeNull();
  });
});
