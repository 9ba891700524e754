/** The chatbot's operations: configuration, state, and answers for a caller. */
import { beforeAll, describe, expect, test, vi } from "vitest";
import { modules } from "../src/platform/index.ts";
import type { CompletionRequest, LanguageModel } from "../src/ports/models/language-model.ts";
import { billing } from "../tools/billing.ts";
import { chatbot } from "../tools/chatbot.ts";
import { startTestApp, useTestApp } from "./support/app.ts";
import { createChatbotHelpers, handoffText, sampleGraph } from "./support/chatbot.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { openPhone } from "./support/simulator.ts";
import { createWorldProbe } from "./support/world.ts";

const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe }, env: { TIDINGS_WALLET: "block" } });
const bot = createChatbotHelpers(app);
const phone = "+14155550100";
let conversation_id = "";

beforeAll(async () => {
  ({ conversation_id } = await openPhone(app, phone).write("Hello, I have a question."));
});

const ask = (message: string, more: object = {}) =>
  app.call(chatbot.chat_with_bot, { conversation_id, message, ...more });

test("before it is configured there is no configuration, and no answer", async () => {
  await using own = await startTestApp();
  const { conversation_id } = await openPhone(own, phone).write("Hello, I have a question.");
  expect((await expectFailure(own.call(chatbot.get_chatbot_config, {}))).code).toBe(
    "chatbot_config_not_found",
  );
  const asking = own.call(chatbot.chat_with_bot, { conversation_id, message: "Hello?" });
  expect((await expectFailure(asking)).code).toBe("chatbot_not_configured");
  const { data } = await own.call(chatbot.get_chatbot_status, {});
  expect(data).toMatchObject({ ready: false, doc_count: 0, qa_count: 0, mode: "extractive", model: null });
});

test("a configuration is created and changed, and an invalid one changes nothing", async () => {
  const created = await bot.configure({ name: "Bo" });
  expect(created).toMatchObject({ name: "Bo", graph_definition: sampleGraph, is_active: true });
  const replaced = await bot.configure({ is_active: false });
  expect(replaced).toMatchObject({ id: created.id, name: "Bo", is_active: false });
  const graph_definition = { nodes: [{ id: "p", type: "handoff", config: { team_id: "team_none" } }] };
  const failure = bot.configure({ graph_definition });
  expect((await expectFailure(failure)).code).toBe("chatbot_graph_invalid");
  const blank = await expectFailure(bot.configure({ name: " " }));
  expect(blank).toMatchObject({ status: 400, error: { param: "name" } });
  expect((await app.call(chatbot.get_chatbot_config, {})).data).toEqual(replaced);
  expect((await expectFailure(ask("Hello?"))).code).toBe("chatbot_not_configured");
});

describe("an active bot", () => {
  beforeAll(async () => {
    await bot.configure({ is_active: true });
    await bot.addPair("What are your opening hours?", "Monday to Friday, 9 to 17.");
  });

  test("searches once for a message, however many nodes search", async () => {
    const nodes = Array.from({ length: 10 }, (_, index) => ({
      id: `search${index}`,
      type: "retrieve",
      config: { top_k: 1 + index },
    }));
    const edges = nodes.slice(1).map(({ id }, index) => ({ source: `search${index}`, target: id }));
    const say = { id: "say", type: "llm" };
    const last = { source: "search9", target: "say" };
    await bot.configure({ graph_definition: { nodes: [...nodes, say], edges: [...edges, last] } });
    const embed = vi.spyOn((await readWorld(app)).embedder, "embed");
    const question = "What are your opening hours?";
    expect((await ask(question)).data.response).toBe("Monday to Friday, 9 to 17.");
    expect(embed.mock.calls.filter(([texts]) => texts.includes(question))).toHaveLength(1);
    embed.mockRestore();
    await bot.configure({ graph_definition: sampleGraph });
  });

  test("is ready", async () => {
    const { data } = await app.call(chatbot.get_chatbot_status, {});
    expect(data).toMatchObject({ ready: true, qa_count: 1, mode: "extractive" });
  });

  test("answers from the knowledge base, says from where, and sends nothing", async () => {
    const { data } = await ask("your opening hours?");
    const source = {
      type: "qa_pair",
      question: "What are your opening hours?",
      document_id: null,
      document_name: null,
      heading: null,
      page: null,
      chunk: null,
      below_threshold: false,
    };
    expect(data).toEqual({
      conversation_id,
      response: "Monday to Friday, 9 to 17.",
      agent_used: "main (extractive)",
      sources: [source],
      found: [source],
      handed_off: false,
      would_hand_off: false,
      reason: null,
    });
    expect(await bot.sentTo(phone)).toEqual([]);
  });

  test("says that it does not know", async () => {
    const own = { conversation_id: (await openPhone(app, "+14155550101").write("Hello.")).conversation_id };
    await ask("your opening hours?", own);
    const { data } = await ask("Do you sell giraffes?", own);
    expect(data).toMatchObject({
      response: handoffText,
      sources: [],
      would_hand_off: true,
      reason: "not_found",
    });
    expect((await bot.turnsOf(own.conversation_id)).map(({ reason }) => reason)).toEqual([null, "not_found"]);
  });

  test("checks the contact's number", async () => {
    expect((await ask("your opening hours?", { contact_phone: phone })).data.would_hand_off).toBe(false);
    expect((await expectFailure(ask("your opening hours?", { contact_phone: "+14155550999" }))).code).toBe(
      "contact_mismatch",
    );
    expect(
      (await expectFailure(app.call(chatbot.chat_with_bot, { conversation_id: "conv_none", message: "x" })))
        .code,
    ).toBe("conversation_not_found");
  });

  test("gives the model the last ten messages as data, and reports its tokens", async () => {
    const requests: CompletionRequest[] = [];
    const languageModel: LanguageModel = {
      model: "scripted-1",
      async complete(request) {
        requests.push(request);
        return { outcome: "answered", text: "From 9 [1].", usage: { input_tokens: 30, output_tokens: 5 } };
      },
    };
    const world = await readWorld(app);
    Object.assign(world, { languageModel });
    for (let n = 1; n <= 11; n += 1) {
      await openPhone(app, phone).write(`message number ${n}`);
    }
    const { data } = await ask("your opening hours?");
    Object.assign(world, { languageModel: undefined });
    expect(data).toMatchObject({ response: "From 9.", agent_used: "main", handed_off: false });
    const content = requests[0]?.messages[0]?.content ?? "";
    expect(content).not.toContain("message number 1\n");
    expect(content).toContain("Customer - message number 2\n");
    expect(content).toContain("Customer - message number 11\n");
    const turn = (await bot.turnsOf(conversation_id)).at(-1);
    expect(turn).toMatchObject({ model: "scripted-1", input_tokens: 30, output_tokens: 5 });
  });

  test("each answer is one unit of the add-on, once under an idempotency key, and none without allowance", async () => {
    const terms = { billing_unit: "per_message", cost_per_unit: 0.5 } as const;
    await app.call(billing.subscribe_chatbot_addon, terms);
    const rest = async () => (await app.call(billing.get_chatbot_addon, {})).data;
    await ask("your opening hours?");
    const json = { conversation_id, message: "your opening hours?" };
    const headers = { "idempotency-key": "one answer" };
    const answers = [];
    for (const _ of [1, 2]) {
      answers.push(await (await app.fetch("/v1/chatbot/chat", { method: "POST", json, headers })).json());
    }
    expect(answers).toMatchObject(Array(2).fill({ data: { response: "Monday to Friday, 9 to 17." } }));
    expect((await rest()).trial_units_remaining).toBe(98);
    const { queries } = app.server.database;
    await queries
      .updateTable("chatbot_addons")
      .set({ status: "suspended", trial_units_remaining: 0 })
      .execute();
    expect((await expectFailure(ask("your opening hours?"))).code).toBe("insufficient_funds");
    await queries.deleteFrom("chatbot_units").execute();
    await queries.deleteFrom("chatbot_addons").execute();
  });
});
