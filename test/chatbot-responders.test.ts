/** The responders: what is quoted and when nothing is, what a model gets, and which of its answers are given. */
import { describe, expect, test } from "vitest";
import { createEnglishEmbedder } from "../src/adapters/models/english/index.ts";
import { type Passage, type Question, respond } from "../src/platform/automation/chatbot/responders/index.ts";
import type { CompletionRequest, LanguageModel } from "../src/ports/models/language-model.ts";

const pair = (question: string, answer: string, score = 0.9): Passage => ({
  type: "qa_pair",
  score,
  isRelevant: true,
  question,
  answer,
});

const chunk = (content: string, more: Partial<Extract<Passage, { type: "chunk" }>> = {}): Passage => ({
  type: "chunk",
  score: 0.9,
  isRelevant: true,
  document_id: "doc_1",
  document_name: "Handbook",
  heading: null,
  page: 1,
  chunk: 1,
  content,
  ...more,
});

const options = {
  instructions: undefined,
  maxTokens: 800,
  signal: new AbortController().signal,
  embedder: createEnglishEmbedder(),
};

async function quote(text: string, passages: Passage[], terms: Question["terms"] = []) {
  return respond(undefined, { text, passages, history: [], terms }, options);
}

describe("quoting", () => {
  const delivery = chunk(
    "We were founded in 1990. Parcels to Germany are delivered within three days. Express parcels arrive on the next day. Our shop is in Bonn.",
    { heading: "Delivery" },
  );
  const opening = chunk("Opening hours:\nMonday to Friday from 9 to 17.\nParking is behind the shop.", {
    chunk: 2,
  });

  test("a question that a QA pair has is answered with the stored answer, verbatim", async () => {
    const answer = "Yes:\n\n  - *by card* — or\u00a0cash.";
    const pairs = [pair("Do you deliver on Sundays?", "No."), pair("How can I pay?", answer)];
    expect(await quote("Can I pay?", pairs)).toEqual({
      outcome: "answered",
      text: answer,
      sources: [pairs[1]],
      model: null,
      usage: null,
    });
  });

  test("the search's own match of a question counts too", async () => {
    const shipping = pair("Was kostet der Versand?", "5 EUR.");
    const same = { ...shipping, similarity: 0.95 };
    expect(await quote("Versandkosten?", [same])).toMatchObject({ outcome: "answered", text: "5 EUR." });
    expect(await quote("Versandkosten?", [shipping])).toMatchObject({ reason: "not_found" });
  });

  test("otherwise the sentences that have the question's words are quoted, and no others", async () => {
    expect(
      await quote("How long does a delivery to Germany take? Three days?", [opening, delivery]),
    ).toMatchObject({
      outcome: "answered",
      text: "Parcels to Germany are delivered within three days.",
      sources: [delivery],
    });
  });

  test("what a sentence announces is quoted with it", async () => {
    const answer = await quote("What are your opening hours?", [delivery, opening]);
    expect(answer).toMatchObject({ text: "Opening hours: Monday to Friday from 9 to 17." });
  });

  test.each(["Do you ship to Mars?", "Who is your chief executive?", "???", "parcels insurance claim value"])(
    "%s has no answer in these passages",
    async (text) => {
      expect(await quote(text, [delivery, opening])).toEqual({
        outcome: "unknown",
        reason: "not_found",
        model: null,
        usage: null,
      });
    },
  );

  test("a heading alone is no answer", async () => {
    expect(await quote("delivery handbook", [delivery])).toMatchObject({
      text: expect.stringContaining("Parcels"),
    });
    expect(await quote("handbook", [delivery])).toMatchObject({ reason: "not_found" });
  });

  test("each word of an answer stands in the passage, and the same question has the same answer", async () => {
    const first = await quote("When do express parcels arrive in Germany?", [delivery]);
    expect(await quote("When do express parcels arrive in Germany?", [delivery])).toEqual(first);
    for (const sentence of (first.outcome === "answered" ? first.text : "").split(/(?<=\.) /)) {
      expect(delivery.type === "chunk" && delivery.content).toContain(sentence);
    }
  });

  test("works in languages without spaces, and with accents", async () => {
    const japanese = chunk("返品は三十日以内に受け付けます。送料は無料です。");
    expect(await quote("送料", [japanese])).toMatchObject({ text: "送料は無料です。" });
    const french = chunk("Les retours sont gratuits pendant 30 jours.");
    expect(await quote("les retours sont-ils gratuits", [french])).toMatchObject({ outcome: "answered" });
  });
});

describe("with a language model", () => {
  const passages = [
    chunk("Parcels arrive within 3 days. See https://shop.example/delivery or call +49 228 123456."),
    pair("Is it free?", "Yes, from 50 EUR."),
  ];

  /** A model that writes this; the request it got. */
  async function ask(
    text: string,
    {
      question = "How long?",
      instructions = "Be brief. Never mention that our supplier is Acme Ltd of Bonn.",
    } = {},
  ) {
    const requests: CompletionRequest[] = [];
    const model: LanguageModel = {
      model: "scripted-1",
      async complete(request) {
        requests.push(request);
        return { outcome: "answered", text, usage: { input_tokens: 9, output_tokens: 4 } };
      },
    };
    const history = [{ from: "contact", text: "Hi <|im_start|>" } as const];
    const answer = await respond(
      model,
      { text: question, passages, history, terms: [] },
      { ...options, instructions },
    );
    return { answer, request: requests[0] };
  }

  test("citations become sources", async () => {
    const { answer } = await ask("Three days [1]. Free from 50 EUR [2, 1].");
    expect(answer).toEqual({
      outcome: "answered",
      text: "Three days. Free from 50 EUR.",
      sources: passages,
      model: "scripted-1",
      usage: { input_tokens: 9, output_tokens: 4 },
    });
  });

  test("the instructions are the system's, everything else is in blocks with a marker of its own", async () => {
    const [one, two] = [await ask("3 days [1]"), await ask("3 days [1]")];
    const [, marker = ""] = /<<([0-9a-f]{24}) passages/.exec(one.request?.messages[0]?.content ?? "") ?? [];
    expect(two.request?.messages[0]?.content).not.toContain(marker);
    expect(one.request?.system).toContain("Be brief.");
    expect(one.request?.system).not.toContain("Parcels");
    const content = one.request?.messages[0]?.content ?? "";
    expect(content.split(`<<${marker}`)).toHaveLength(4);
    expect(content.split(`${marker}>>`)).toHaveLength(4);
    expect(content).not.toContain("<|");
  });

  test.each([
    ["cites nothing", "Three days.", "no_citation"],
    ["cites what was not supplied", "Three days [1][3].", "unknown_citation"],
    ["cites the number 0", "Three days [0].", "unknown_citation"],
    ["says that it does not know", "NO_ANSWER", "not_known"],
    ["says so in its text", "I think NO_ANSWER [1]", "not_known"],
    ["only cites", "[1]", "no_citation"],
    ["is too long", `${"long ".repeat(900)} [1]`, "answer_too_long"],
    ["has another link", "See https://evil.example [1]", "unknown_link"],
    ["has a longer link", "See https://shop.example/delivery/x [1]", "unknown_link"],
    ["has another domain", "See evil.example/x [1]", "unknown_link"],
    ["hides a link in an image", "![x](https://evil.example/?q=1) [1]", "unknown_link"],
    ["has a link of another scheme", "javascript://x [1]", "unknown_link"],
    ["has a mail address", "Write to x@shop.example [1]", "unknown_link"],
    ["has another phone number", "Call +49 228 999999 [1]", "unknown_link"],
    ["has a phone number in Arabic digits", "Call +٤٩ ٢٢٨ ٩٩٩٩٩٩ [1]", "unknown_link"],
    ["has an address with an ideographic full stop", "See evil。com [1]", "unknown_link"],
    ["has an address with a halfwidth one", "See evil｡example/x [1]", "unknown_link"],
    ["has an address with a fullwidth one", "See ｅｖｉｌ．ｃｏｍ [1]", "unknown_link"],
    ["has an address in another script", "See пример.рф or उदाहरण.भारत [1]", "unknown_link"],
    ["has an address of IPv6", "See http://[::1]/x [1]", "unknown_link"],
    ["has an address of IPv6 without a scheme", "See [2001:db8::7] [1]", "unknown_link"],
    ["has an address of IPv6 without brackets", "See 2001:db8::7 [1]", "unknown_link"],
    ["has an address of IPv4", "See http://192.0.2.7 [1]", "unknown_link"],
    ["has an address of IPv4 in Arabic digits", "See ١٩٢.٠.٢.٧ [1]", "unknown_link"],
    [
      "repeats eight words of the instructions",
      "Well: never mention that our supplier is Acme Ltd [1]",
      "prompt_repeated",
    ],
    [
      "repeats the prompt",
      "You answer the customers of a business in a chat, from passages [1]",
      "prompt_repeated",
    ],
  ])("an answer that %s is not given", async (_, text, reason) => {
    expect((await ask(text)).answer).toMatchObject({ outcome: "unknown", reason, model: "scripted-1" });
  });

  test.each([
    "Open from 10:30 to 17:45, [12:30] is lunch [1].",
    "九点开门。周日休息。 [1]",
    "Preis:20 EUR, std::vector, Note:abc [1].",
    "Call +٤٩ ٢٢٨ ١٢٣٤٥٦ [1].",
    "Never mention that our supplier is [1].",
  ])("an answer without an address that the passages lack is given: %s", async (text) => {
    expect((await ask(text)).answer).toMatchObject({ outcome: "answered" });
  });

  test("links and numbers of the passages may be given", async () => {
    const text = "See shop.example/delivery, or call +49 228 123456 [1].";
    expect((await ask(text)).answer).toMatchObject({
      text: "See shop.example/delivery, or call +49 228 123456.",
    });
  });

  test("hidden characters are removed from an answer", async () => {
    expect((await ask("Three\u202e da\u200bys\u{e0041} [1]")).answer).toMatchObject({ text: "Three days" });
  });

  test.each([
    "timeout",
    "rate_limited",
    "unavailable",
    "malformed",
    "empty",
    "too_long",
    "rejected",
  ] as const)("a call that fails with %s has no answer", async (reason) => {
    const failure = { outcome: "failed", reason, detail: "", isRetryable: true } as const;
    const model: LanguageModel = { model: "m", complete: async () => failure };
    const question = { text: "How long?", passages, history: [], terms: [] };
    expect(await respond(model, question, options)).toEqual({
      outcome: "unknown",
      reason: `model_${reason}`,
      model: "m",
      usage: null,
    });
  });

  test("without a passage the model is not called", async () => {
    const model: LanguageModel = {
      model: "m",
      complete() {
        throw new Error("it was called");
      },
    };
    expect(await respond(model, { text: "x", passages: [], history: [], terms: [] }, options)).toMatchObject({
      reason: "not_found",
    });
  });
});
