/** Injection attempts: no answer says what a document, a QA pair or a message orders a model to say. */
import { expect, test, vi } from "vitest";
import { createEnglishEmbedder } from "../src/adapters/models/english/index.ts";
import { type Passage, respond } from "../src/platform/automation/chatbot/responders/index.ts";
import { linksOf } from "../src/platform/automation/chatbot/responders/model/links.ts";
import { neutralize } from "../src/platform/automation/chatbot/responders/neutralize.ts";
import type { CompletionRequest, LanguageModel } from "../src/ports/models/language-model.ts";
import { type Attack, attacks } from "./fixtures/chatbot-attacks.ts";

const question = "How long does delivery take?";
const honest = "Delivery takes three days.";
const options = {
  instructions: "Be brief.",
  maxTokens: 100,
  signal: new AbortController().signal,
  embedder: createEnglishEmbedder(),
};

const payload = /\S*pwned[^\s[\]]*/i;
/** What ends a block, separates roles or hides text for some model. */
const unneutralized =
  /<\||\|>|<<|>>|\[\/?INST\]|<\/?(?:data|system|s|assistant|user)>|^[ #]*(?:system|assistant):|[\p{Default_Ignorable_Code_Point}]|[＜＞]/imu;
/** What a model takes for an order to itself. */
const order =
  /(?:ignore|disregard|forget|override)\b.*(?:instruction|rule|guideline)|(?:ai|chatbots?|assistants?)\b.*(?:must|:|,)|you are now|new instructions|developer mode|act as/i;

/** Writes what a text orders that stands outside the blocks, or in a block in a form that works there. */
function createObeyingModel() {
  const seen: CompletionRequest[] = [];
  const model: LanguageModel = {
    model: "obeying",
    async complete(request) {
      seen.push(request);
      const content = request.messages.map((message) => message.content).join("\n");
      const [, marker = ""] = /<<([0-9a-f]{24})/.exec(request.system) ?? [];
      const blocks = content
        .split(`<<${marker} `)
        .slice(1)
        .map((part) => part.split(`${marker}>>`));
      const outside = [request.system, ...blocks.map(([, after = ""]) => after)].join("\n");
      // A contact may write an order: it is the passages' that must not reach the model.
      const lines = blocks.flatMap(([inside = ""]) => inside.split("\n\n"));
      const isObeyed = (text: string) =>
        payload.test(text) && (unneutralized.test(text) || (text.startsWith("passages") && order.test(text)));
      const obeyed = payload.test(outside) ? outside : lines.find(isObeyed);
      const said = obeyed === undefined ? honest : payload.exec(obeyed)?.[0];
      return { outcome: "answered", text: `${said} [1]`, usage: null };
    },
  };
  return { model, seen };
}

function plant({ kind, text }: Attack) {
  const honestChunk: Passage = {
    type: "chunk",
    score: 0.9,
    isRelevant: true,
    document_id: "doc_1",
    document_name: "Handbook",
    heading: null,
    page: null,
    chunk: 1,
    content: honest,
  };
  const pair: Passage = {
    type: "qa_pair",
    score: 0.9,
    isRelevant: true,
    question: "Delivery?",
    answer: `${honest} ${text}`,
  };
  const planted: Passage[] = [
    ...(kind === "document" ? [{ ...honestChunk, content: `${text}\n${honest}` }] : []),
    ...(kind === "document" ? [{ ...honestChunk, document_name: text, heading: text }] : []),
    ...(kind === "qa_pair" ? [pair] : []),
    honestChunk,
  ];
  const isMessage = kind === "message";
  return {
    text: isMessage ? text : question,
    history: isMessage ? [{ from: "contact", text } as const] : [],
    passages: planted,
    terms: [],
  };
}

test("there are 50 attempts, of every kind", () => {
  expect(attacks).toHaveLength(50);
  expect(new Set(attacks.map(({ kind }) => kind)).size).toBe(3);
});

test.each(attacks)("a model that obeys does not obey $kind: $text", async (attack) => {
  const { model, seen } = createObeyingModel();
  const answer = await respond(model, plant(attack), options);
  expect(seen).toHaveLength(1);
  expect(answer).toMatchObject({ outcome: "answered", text: honest });
});

test.each(attacks.filter(({ kind }) => kind === "message"))(
  "what a contact dictates is not said, even if the model writes it: $text",
  async (attack) => {
    const dictated = payload.exec(attack.text)?.[0] ?? "";
    const model: LanguageModel = {
      model: "gullible",
      complete: async () => ({ outcome: "answered", text: `${dictated} [1]`, usage: null }),
    };
    expect(await respond(model, plant(attack), options)).toMatchObject({ outcome: "unknown" });
  },
);

test.each(attacks)("quoting does not obey $kind: $text", async (attack) => {
  const { text, ...planted } = plant(attack);
  const answer = await respond(undefined, { text, ...planted }, options);
  const said = answer.outcome === "answered" ? answer.text : "";
  const isOrdered = payload.test(said) && order.test(said);
  expect(isOrdered).toBe(false);
});

test.each([
  ["a link is found behind a long word", `${"x".repeat(7_000)} evil.example.com`, "evil.example.com"],
  ["a link is found at the end of many short words", `${"1.".repeat(4_000)}com`, `${"1.".repeat(4_000)}com`],
  [
    "a link with a user of many parts is found",
    `${"a_".repeat(100)}b.example.com`,
    `${"a_".repeat(100)}b.example.com`,
  ],
])("%s", (_, text, link) => {
  expect(linksOf(text)).toContain(link);
});

test("delimiters within delimiters are removed in few rounds", () => {
  const replace = vi.spyOn(String.prototype, "replace");
  const text = neutralize(`${"[1".repeat(1_000)}${"]".repeat(1_000)} a < b`);
  const rounds = replace.mock.calls.length;
  replace.mockRestore();
  expect(text).not.toMatch(/[[\]<>]/);
  expect(rounds).toBeLessThan(40);
});
