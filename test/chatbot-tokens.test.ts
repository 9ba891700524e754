/**
 * The monthly limit of the language model's tokens: what counts, what happens at the limit, and
 * what the status shows.
 */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import type { LanguageModel } from "../src/ports/models/language-model.ts";
import { chatbot } from "../tools/chatbot.ts";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { useTestApp } from "./support/app.ts";
import { createChatbotHelpers, handoffText } from "./support/chatbot.ts";
import { openPhone } from "./support/simulator.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
// A month never ends in the middle of a test.
const startsAt = new Date("2027-03-10T10:00:00.000Z");
const app = useTestApp({ enabledModules: { ...modules, probe }, startsAt });
const bot = createChatbotHelpers(app);
const question = "What are your opening hours?";

/** Called before the model answers. */
let whileAnswering: () => Promise<unknown> = async () => undefined;
let calls = 0;
let usage = { input_tokens: 4900, output_tokens: 50 };
const languageModel: LanguageModel = {
  model: "counted-1",
  async complete() {
    calls += 1;
    await whileAnswering();
    return { outcome: "answered", text: "From 9 [1].", usage };
  },
};

const readStatus = async () => (await app.call(chatbot.get_chatbot_status, {})).data;

beforeAll(async () => {
  await bot.configure();
  await bot.setInbox(true);
  await bot.addPair(question, "Monday to Friday, 9 to 17.");
});

beforeEach(async () => {
  calls = 0;
  whileAnswering = async () => undefined;
  usage = { input_tokens: 4900, output_tokens: 50 };
  await app.server.database.queries.deleteFrom("chatbot_turns").execute();
  Object.assign(await readWorld(app), { languageModel, monthlyTokens: 10_000 });
});

test("without a language model there is no use and no limit", async () => {
  Object.assign(await readWorld(app), { languageModel: undefined });
  expect(await readStatus()).toMatchObject({ mode: "extractive", tokens_used: null, token_limit: null });
});

describe("with a limit", () => {
  test("the model is not called at the limit, a person takes over, and the next month it is called again", async () => {
    const phone = "+14155550601";
    const id = await bot.write(phone, question);
    expect(await readStatus()).toMatchObject({ tokens_used: 4950, token_limit: 10_000 });
    await bot.write(phone, question);
    await bot.write(phone, question);
    expect(calls).toBe(2);
    expect(await bot.sentTo(phone)).toEqual(["From 9.", "From 9.", handoffText]);
    expect((await bot.contextOf(id)).chatbot?.handed_off).toMatchObject({ reason: "token_limit", question });
    expect((await bot.turnsOf(id)).at(-1)).toMatchObject({ model: "counted-1", input_tokens: null });
    await app.advanceTime(31 * 24 * 60 * 60_000);
    expect(await readStatus()).toMatchObject({ tokens_used: 0, token_limit: 10_000 });
    await bot.write("+14155550602", question);
    expect(calls).toBe(3);
  });

  test("all nodes of a turn count, and a node's reservation includes what earlier nodes have used", async () => {
    const nodes = ["one", "two", "three"].map((id) => ({ id, type: "llm" }));
    const edges = [
      { source: "one", target: "two" },
      { source: "two", target: "three" },
    ];
    await bot.configure({ graph_definition: { entry_point: "one", nodes, edges } });
    const { conversation_id } = await openPhone(app, "+14155550607").write("Hello");
    const message = question;
    const { data } = await app.call(chatbot.chat_with_bot, { conversation_id, message });
    expect(calls).toBe(2);
    expect(data).toMatchObject({ response: "From 9.\n\nFrom 9." });
    expect(await readStatus()).toMatchObject({ tokens_used: 9900 });
    await bot.configure();
  });

  test("answers for a caller count, and are limited", async () => {
    const { conversation_id } = await openPhone(app, "+14155550603").write("Hello");
    const ask = async () =>
      (await app.call(chatbot.chat_with_bot, { conversation_id, message: question })).data;
    await ask();
    await ask();
    expect(await ask()).toMatchObject({ would_hand_off: true, reason: "token_limit" });
    expect(calls).toBe(2);
  });

  test("60 answers at once use no more than the limit, and the next one is given again", async () => {
    usage = { input_tokens: 500, output_tokens: 100 };
    const chats = 60;
    const { conversation_id } = await openPhone(app, "+14155550606").write("Hello");
    const ask = async () =>
      (await app.call(chatbot.chat_with_bot, { conversation_id, message: question })).data;
    let ended = 0;
    // No answer ends before every other one has begun, or was refused.
    whileAnswering = () => expect.poll(() => calls + ended, { timeout: 20_000 }).toBe(chats);
    const answers = await Promise.all(
      Array.from({ length: chats }, () =>
        ask().finally(() => {
          ended += 1;
        }),
      ),
    );
    const { reserved } = await app.server.database.queries
      .selectFrom("chatbot_turns")
      .select(({ fn }) => fn.max("reserved_tokens").as("reserved"))
      .executeTakeFirstOrThrow();
    const expected = Math.floor(10_000 / (reserved ?? 0));
    expect(calls).toBe(expected);
    expect(answers.filter(({ reason }) => reason === "token_limit")).toHaveLength(chats - expected);
    expect((await readStatus()).tokens_used).toBe(600 * expected);
    whileAnswering = async () => undefined;
    expect(await ask()).toMatchObject({ handed_off: false });
  });

  test("what a process that died had reserved counts for ten minutes", async () => {
    const { conversation_id } = await openPhone(app, "+14155550607").write("Hello");
    const ask = async () =>
      (await app.call(chatbot.chat_with_bot, { conversation_id, message: question })).data;
    const reserved_until = new Date(app.now().getTime() + 10 * 60_000).toISOString();
    await ask();
    await app.server.database.queries
      .updateTable("chatbot_turns")
      .set({
        status: "pending",
        input_tokens: null,
        output_tokens: null,
        reserved_tokens: 9_990,
        reserved_until,
      })
      .execute();
    expect(await ask()).toMatchObject({ reason: "token_limit" });
    await app.advanceTime(10 * 60_000);
    expect(await ask()).toMatchObject({ handed_off: false });
  });

  test("an answer that is not sent counts too", async () => {
    const phone = "+14155550604";
    whileAnswering = () =>
      app.call(messages.send_message, { to: phone, type: "text", text: { body: "A person." } });
    const id = await bot.write(phone, question);
    expect(await bot.turnsOf(id)).toMatchObject([{ status: "skipped", answer: null, input_tokens: 4900 }]);
    expect(await readStatus()).toMatchObject({ tokens_used: 4950 });
  });

  test("an answer that can't be sent counts too", async () => {
    const [inbox] = (await app.call(inboxes.list_inboxes, {})).data;
    const setWindow = (service_window: "strict" | "advisory") =>
      app.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings: { service_window, chatbot: true } });
    await setWindow("strict");
    // The window closes while the model answers.
    const last_user_message_at = new Date(app.now().getTime() - 25 * 60 * 60_000).toISOString();
    whileAnswering = () =>
      app.server.database.queries.updateTable("conversations").set({ last_user_message_at }).execute();
    const phone = "+14155550605";
    const id = await bot.write(phone, question);
    await setWindow("advisory");
    expect(await bot.turnsOf(id)).toMatchObject([
      { status: "handed_off", reason: "outside_service_window", answer: null, input_tokens: 4900 },
    ]);
    expect(await bot.sentTo(phone)).toEqual([]);
    expect(await readStatus()).toMatchObject({ tokens_used: 4950 });
  });
});
