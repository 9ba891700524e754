/**
 * What the bot finds and answers: thresholds, greetings, pairs with one answer; and for a
 * caller, the hand-off.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { modules } from "../src/platform/index.ts";
import type { Embedder } from "../src/ports/models/embedder.ts";
import { chatbot } from "../tools/chatbot.ts";
import { conversations } from "../tools/conversations.ts";
import { knowledgeBase } from "../tools/knowledge-base/index.ts";
import { messages } from "../tools/messages/index.ts";
import { routing } from "../tools/routing.ts";
import { useTestApp } from "./support/app.ts";
import { createChatbotHelpers, handoffText } from "./support/chatbot.ts";
import { openPhone } from "./support/simulator.ts";
import { createTeamWithMembers } from "./support/teams.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });
const bot = createChatbotHelpers(app);

/** A phone that no other test has. */
let phones = 0;
const newPhone = () => `+1415555${String(2000 + phones++)}`;

async function ask(message: string, more: { hand_off?: boolean; conversation_id?: string } = {}) {
  const { conversation_id } = await openPhone(app, newPhone()).write("I have a question.");
  return (await app.call(chatbot.chat_with_bot, { conversation_id, message, ...more })).data;
}

const search = async (query: string, top_k = 50) =>
  (await app.call(knowledgeBase.search_knowledge_base, { query, top_k })).data.results;

beforeAll(async () => {
  await bot.configure();
  const document = { source_type: "markdown" as const };
  await app.call(knowledgeBase.add_document, {
    ...document,
    name: "Delivery",
    content: "Parcels to Norway take six days. Express parcels take two.",
  });
  await app.call(knowledgeBase.add_document, {
    ...document,
    name: "Garden",
    content: "Tulips bloom in spring. Water the roses every evening.",
  });
  await bot.addPair("Are you open today?", "We are open every day from 9 to 18.");
  await bot.addPair("Are you open on Sunday?", "We are open every day, from 9 to 18");
  await bot.addPair("Do you sell gift cards?", "Yes, at the till.");
});

test("an answer of an earlier version is cut to one message, and halves no character", async () => {
  await bot.addPair("Which emoji do you like?", "These.");
  const { queries } = app.server.database;
  await queries
    .updateTable("knowledge_qa_pairs")
    .set({ answer: `x${"😀".repeat(2_050)}` })
    .where("answer", "=", "These.")
    .execute();
  expect((await ask("Which emoji do you like?")).response).toBe(`x${"😀".repeat(2_047)}`);
  await queries.deleteFrom("knowledge_qa_pairs").where("question", "=", "Which emoji do you like?").execute();
});

describe("a search", () => {
  test.each(["How long do parcels to Norway take?", "When do tulips bloom?", "hello", "zebra giraffe"])(
    "has no result of score 0: %s",
    async (query) => {
      expect((await search(query)).filter(({ score }) => score <= 0)).toEqual([]);
    },
  );

  test("says which results are below the threshold", async () => {
    const results = await search("How long do parcels to Norway take?");
    expect(results[0]).toMatchObject({ document_name: "Delivery", below_threshold: false });
    expect(results.slice(1).every(({ below_threshold }) => below_threshold)).toBe(true);
    expect((await search("Is Pluto a planet?")).every(({ below_threshold }) => below_threshold)).toBe(true);
  });
});

describe("found", () => {
  const graph_definition = {
    nodes: [
      { id: "search", type: "retrieve", config: { top_k: 10 } },
      { id: "answer", type: "message", config: { text: "found" } },
      { id: "person", type: "handoff", config: { text: "not found" } },
    ],
    edges: [
      { from: "search", to: "answer", condition: "found" },
      { from: "search", to: "person" },
    ],
  };

  const questions = [
    ["How long do parcels to Norway take?", true],
    ["Is Pluto a planet?", false],
    ["Who won the world cup?", false],
  ] as const;

  test.each(questions)("by words and by meaning, %s: %s", async (message, isFound) => {
    await bot.configure({ graph_definition });
    const { response, would_hand_off } = await ask(message);
    expect([response, would_hand_off]).toEqual(isFound ? ["found", false] : ["not found", true]);
  });

  test.each(questions)(
    "by words alone, while the model does not answer, %s: %s",
    async (message, isFound) => {
      await bot.configure({ graph_definition });
      const world = await readWorld(app);
      const { embedder } = world;
      const failing: Embedder = {
        model: embedder.model,
        languageNote: "",
        embed: async () => ({ outcome: "failed", reason: "unavailable", detail: "", isRetryable: false }),
      };
      Object.assign(world, { embedder: failing });
      const { response } = await ask(message).finally(() => Object.assign(world, { embedder }));
      expect(response).toBe(isFound ? "found" : "not found");
    },
  );
});

describe("the bot", () => {
  beforeAll(async () => {
    await bot.configure();
  });

  test.each([
    "Are you open?",
    "Are you open today?",
    "Are you open on Sunday?",
    "are you open sundays",
    "Are you open now?",
  ])("is not unsure between two pairs with the same answer: %s", async (message) => {
    expect((await ask(message)).response).toMatch(/^We are open every day,? from 9 to 18\.?$/);
  });

  test("is unsure between two pairs with different answers", async () => {
    const { data } = await app.call(knowledgeBase.add_qa_pair, {
      question: "Are you open on holidays?",
      answer: "No, we are closed then.",
    });
    await app.runDueJobs();
    expect(await ask("Are you open?")).toMatchObject({ would_hand_off: true, reason: "not_found" });
    await app.call(knowledgeBase.delete_qa_pair, { id: data.id });
  });

  test.each([
    ["Hi", "Hello! How can I help you?"],
    ["hello there 👋", "Hello! How can I help you?"],
    ["Good morning!", "Hello! How can I help you?"],
    ["Grüß Gott", "Hallo! Wie kann ich Ihnen helfen?"],
    ["¡Buenos días!", "¡Hola! ¿En qué puedo ayudarle?"],
    ["नमस्ते", "नमस्ते! मैं आपकी क्या मदद कर सकता हूँ?"],
    ["السلام عليكم", "مرحبا! كيف يمكنني مساعدتك؟"],
    ["Thank you so much!", "You're welcome!"],
  ])("answers the greeting %s", async (message, response) => {
    expect(await ask(message)).toMatchObject({ response, would_hand_off: false, reason: null, sources: [] });
  });

  test("answers a greeting in a graph that asks whether something was found", async () => {
    const nodes = [
      { id: "search", type: "retrieve" },
      { id: "answer", type: "llm" },
      { id: "person", type: "handoff" },
    ];
    const edges = [
      { from: "search", to: "answer", condition: "found" },
      { from: "search", to: "person" },
    ];
    await bot.configure({ graph_definition: { nodes, edges } });
    expect(await ask("Hi")).toMatchObject({ response: "Hello! How can I help you?", would_hand_off: false });
    await bot.configure();
  });

  test("answers a greeting with the pair that the business wrote for it", async () => {
    const { data } = await app.call(knowledgeBase.add_qa_pair, { question: "Hello", answer: "Ahoy!" });
    await app.runDueJobs();
    expect((await ask("hello!")).response).toBe("Ahoy!");
    await app.call(knowledgeBase.delete_qa_pair, { id: data.id });
  });

  test("does not take a question for a greeting", async () => {
    expect(await ask("Hi, do you sell giraffes?")).toMatchObject({ would_hand_off: true });
    expect((await ask("Hello, do you sell gift cards?")).response).toBe("Yes, at the till.");
  });

  test("answers with what the search found, and which source was below the threshold", async () => {
    const { sources, found } = await ask("Do you sell gift cards?");
    expect(sources).toMatchObject([{ question: "Do you sell gift cards?", below_threshold: false }]);
    expect(found[0]).toEqual(sources[0]);
    const unknown = await ask("Is Pluto a planet?");
    expect(unknown).toMatchObject({ would_hand_off: true, sources: [] });
    expect(unknown.found.every(({ below_threshold }) => below_threshold)).toBe(true);
  });
});

describe("chat_with_bot", () => {
  test("hands nothing off by itself, and says that the bot would", async () => {
    const { conversation_id } = await openPhone(app, newPhone()).write("I have a question.");
    const before = await bot.conversation(conversation_id);
    expect(await ask("Do you sell giraffes?", { conversation_id })).toMatchObject({
      response: handoffText,
      handed_off: false,
      would_hand_off: true,
      reason: "not_found",
    });
    await app.runDueJobs();
    expect(await bot.conversation(conversation_id)).toEqual(before);
    expect((await bot.contextOf(conversation_id)).chatbot).toBeNull();
  });

  test("with hand_off asks for a person: state, note and routing", async () => {
    const phone = newPhone();
    const { conversation_id } = await openPhone(app, phone).write("I have a question.");
    await app.call(conversations.update_conversation, { id: conversation_id, status: "pending" });
    const team = await createTeamWithMembers(app, { name: "Help", is_active: true }, { Ann: {} });
    const { data: policy } = await app.call(routing.create_routing_policy, {
      name: "all",
      strategy: "round_robin",
      target_type: "team",
      target_id: team.id,
    });
    const { data } = await app.call(chatbot.chat_with_bot, {
      conversation_id,
      message: "Do you sell giraffes?",
      hand_off: true,
    });
    expect(data).toMatchObject({ handed_off: true, would_hand_off: true, reason: "not_found" });
    await app.runDueJobs();
    expect(await bot.conversation(conversation_id)).toMatchObject({ status: "open", team_id: team.id });
    expect((await bot.contextOf(conversation_id)).chatbot).toMatchObject({
      state: "handed_off",
      reason: "not_found",
      handed_off: { question: "Do you sell giraffes?", reason: "not_found" },
    });
    expect(await bot.sentTo(phone)).toEqual([]);
    await app.call(routing.delete_routing_policy, { id: policy.id });
  });

  test("with hand_off hands nothing off where the bot knows the answer", async () => {
    const answer = await ask("Do you sell gift cards?", { hand_off: true });
    expect(answer).toMatchObject({ handed_off: false, would_hand_off: false, reason: null });
  });
});

describe("configure_chatbot", () => {
  test("changes only what is sent", async () => {
    await bot.configure({ name: "Bo", is_active: false });
    expect(await bot.configure()).toMatchObject({ name: "Bo", is_active: false });
    expect(await bot.configure({ is_active: true })).toMatchObject({ name: "Bo", is_active: true });
    expect(await bot.configure({ name: "Ada" })).toMatchObject({ name: "Ada", is_active: true });
  });
});

describe("in an inbox of the bot", () => {
  const reply = (to: string) =>
    app.call(messages.send_message, { to, type: "text", text: { body: "A person here." } });

  beforeAll(async () => {
    await bot.configure({ is_active: true });
    await bot.setInbox(false);
  });

  test("the bot is silent where a person replied before it was switched on, until the conversation is closed", async () => {
    const phone = newPhone();
    const id = await bot.write(phone, "My invoice is wrong.");
    await reply(phone);
    await bot.setInbox(true);
    await bot.write(phone, "Hi");
    expect(await bot.sentTo(phone)).toEqual(["A person here."]);
    await app.call(conversations.update_conversation, { id, status: "closed" });
    await bot.write(phone, "Hi");
    expect(await bot.sentTo(phone)).toEqual(["A person here.", "Hello! How can I help you?"]);
    await bot.setInbox(false);
  });

  test("the bot is silent where a person replied after the conversation was closed", async () => {
    const phone = newPhone();
    const id = await bot.write(phone, "My invoice is wrong.");
    await app.call(conversations.update_conversation, { id, status: "closed" });
    await bot.write(phone, "It is still wrong.");
    await reply(phone);
    await bot.setInbox(true);
    await bot.write(phone, "Hi");
    expect(await bot.sentTo(phone)).toEqual(["A person here."]);
    await bot.setInbox(false);
  });

  test("the bot answers whoever answers a notification of a key", async () => {
    const phone = newPhone();
    await bot.setInbox(true);
    await reply(phone);
    await bot.write(phone, "Hi");
    expect(await bot.sentTo(phone)).toEqual(["A person here.", "Hello! How can I help you?"]);
    await bot.setInbox(false);
  });
});
