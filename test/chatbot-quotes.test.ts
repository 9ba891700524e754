/** The rules of quoted answers: what a sentence, a row of a table or a QA pair must have of the question. */
import { describe, expect, test, vi } from "vitest";
import { createEnglishEmbedder } from "../src/adapters/models/english/index.ts";
import { findNearWords } from "../src/platform/automation/chatbot/responders/extractive/near-words.ts";
import { type Passage, type Question, respond } from "../src/platform/automation/chatbot/responders/index.ts";
import { wordsOf } from "../src/platform/automation/chatbot/responders/words.ts";

const options = {
  instructions: undefined,
  maxTokens: 800,
  signal: new AbortController().signal,
  embedder: createEnglishEmbedder(),
};

const chunk = (content: string, more: Partial<Extract<Passage, { type: "chunk" }>> = {}): Passage => ({
  type: "chunk",
  score: 0.5,
  isRelevant: true,
  document_id: "doc_1",
  document_name: "pool.html",
  heading: null,
  page: null,
  chunk: 1,
  content,
  ...more,
});

const pair = (question: string, answer: string): Passage => ({
  type: "qa_pair",
  score: 0.5,
  isRelevant: true,
  question,
  answer,
});

/** The answer, or why there is none. */
async function ask(text: string, passages: Passage[], terms: Question["terms"] = []) {
  const answer = await respond(undefined, { text, history: [], passages, terms }, options);
  return answer.outcome === "answered" ? answer.text : answer.reason;
}

const pool = chunk(
  "The pool has six lanes. A monthly pass costs 42 crowns. Lessons last 40 minutes. The pool opens at 8:00. Lockers are in the hall. The deep end is 3 metres deep.",
);

describe("the kind of fact that is asked for must be there:", () => {
  test.each([
    ["How much is a monthly pass?", "A monthly pass costs 42 crowns."],
    ["What does a monthly pass cost?", "A monthly pass costs 42 crowns."],
    ["How long do lessons last?", "Lessons last 40 minutes."],
    ["When does the pool open?", "The pool opens at 8:00."],
    ["How many lanes does the pool have?", "The pool has six lanes."],
    ["Where are the lockers?", "Lockers are in the hall."],
    ["How deep is the deep end?", "The deep end is 3 metres deep."],
    ["How much do lessons cost?", "not_found"],
    ["How long is a monthly pass valid?", "not_found"],
    ["When are the lessons?", "not_found"],
    ["How many lockers are there?", "not_found"],
    ["Who opens the pool?", "not_found"],
    ["What is the phone number of the pool?", "not_found"],
    ["How warm is the pool?", "not_found"],
  ])("%s", async (question, answer) => {
    expect(await ask(question, [pool])).toBe(answer);
  });
});

test.each([
  ["The tickets are at https://pool.example/tickets?day=1&x=2!now. The gate is shut."],
  ["The tickets are at www.pool.example/?tickets. The gate is shut."],
  ["The tickets are at https://pool.example/tickets?day=1。门关着。"],
])("an address is quoted as a whole: %s", async (content) => {
  const [sentence] = /^.*?(?:\.(?= )|。)/.exec(content) ?? [];
  expect(await ask("Where are the tickets?", [chunk(content)])).toBe(sentence);
});

describe("the words of the question must be there:", () => {
  test("one that no passage has means that there is no answer", async () => {
    const terms = [
      { word: "pass", weight: 1 },
      { word: "monthly", weight: 1 },
      { word: "sauna", weight: 4 },
    ];
    expect(await ask("Is there a monthly pass?", [pool], terms.slice(0, 2))).toContain("42 crowns");
    expect(await ask("Is there a monthly pass for the sauna?", [pool], terms)).toBe("not_found");
  });

  test("rare words count more than frequent ones", async () => {
    const question = "Does the pool rent lanes?";
    const weights = (rent: number) => [
      { word: "pool", weight: 1 },
      { word: "lanes", weight: 1 },
      { word: "rent", weight: rent },
    ];
    expect(await ask(question, [pool], weights(0.1))).toBe("The pool has six lanes.");
    expect(await ask(question, [pool], weights(3))).toBe("not_found");
  });

  test("in the sentence, in a heading above it or in the document's name", async () => {
    const fees = chunk("Adults pay 6 crowns.", { heading: "Tickets" });
    expect(await ask("How much are tickets for adults at the pool?", [fees])).toBe("Adults pay 6 crowns.");
    expect(await ask("How much are tickets for adults at the museum?", [fees])).toBe("not_found");
    const inside = chunk(
      "Opening times\nDaily from 8:00.\n\nTickets for adults\nThey are 6 crowns each visit.",
    );
    expect(await ask("How much is a visit for adults?", [inside])).toBe("They are 6 crowns each visit.");
  });

  test("elsewhere in the passage they count little", async () => {
    const far = chunk("Dogs live here. The café sells cakes. The garden is open. Cats are welcome.");
    expect(await ask("Are dogs welcome?", [far])).toBe("not_found");
  });

  test("as numbers and days exactly", async () => {
    const card = chunk("The card costs 24 crowns for 48 hours. The card costs 31 crowns for 72 hours.");
    expect(await ask("What does the card cost for 72 hours?", [card])).toContain("31 crowns");
    expect(await ask("What does the card cost for 96 hours?", [card])).toBe("not_found");
    const open = chunk("The museum is open on Monday.");
    expect(await ask("Is the museum open on Sunday?", [open])).toBe("not_found");
  });

  test("or misspelled, or in other words of nearly the same meaning, but not the most telling word", async () => {
    const cars = chunk("You may purchase tickets for the castle at the counter.");
    expect(await ask("May I buy tickets for the castle at the counter?", [cars])).toContain("purchase");
    expect(await ask("May I buy tickest for the castle at the counter?", [cars])).toContain("purchase");
    const music = chunk("We teach the clarinet.");
    expect(await ask("Do you teach the saxophone?", [music])).toBe("not_found");
  });
});

test("a row of a table is quoted with its header", async () => {
  const table = chunk(
    "Ticket | Adults | Children\nSingle visit | 6.50 crowns | 3.20 crowns\nTen visits | 55 crowns | 27 crowns",
  );
  expect(await ask("What does a single visit cost for children?", [table])).toBe(
    "Ticket | Adults | Children\nSingle visit | 6.50 crowns | 3.20 crowns",
  );
});

test("an item of a list is quoted with the line that announces it", async () => {
  const list = chunk("Lessons cost:\n- 88 crowns for children\n- 126 crowns for adults");
  expect(await ask("What do lessons for adults cost?", [list])).toBe("Lessons cost: - 126 crowns for adults");
});

test("if sentences of two passages fit equally, there is no answer", async () => {
  const museum = chunk("A family ticket costs 20 crowns.", { document_name: "museum.md" });
  const zoo = chunk("A family ticket costs 35 crowns.", { document_name: "zoo.md", document_id: "doc_2" });
  expect(await ask("What does a family ticket cost?", [museum, zoo])).toBe("ambiguous");
  expect(await ask("What does a family ticket for the zoo cost?", [museum, zoo])).toContain("35");
  expect(await ask("What does a family ticket cost?", [museum, { ...museum }])).toContain("20");
});

describe("a QA pair", () => {
  const bus = pair("How much is a bus ticket?", "A bus ticket costs 2 crowns.");
  const lost = pair("I lost something on a bus. Where do I ask?", "At the depot in Station Road.");
  const card = pair("Can I pay by card at the counters?", "Yes, with debit and credit cards.");

  test("matches a question in nearly the same words", async () => {
    expect(await ask("how much does a ticket for the bus cost?", [bus, lost])).toContain("2 crowns");
    expect(await ask("May I pay with a credit card?", [card])).toContain("debit");
  });

  test("does not match a question about something more, or something else", async () => {
    expect(await ask("Is a bus ticket for children cheaper?", [bus])).toBe("not_found");
    expect(await ask("Which bus goes to the airport?", [bus, lost])).toBe("not_found");
    expect(await ask("How long is a bus ticket valid?", [bus])).toBe("not_found");
  });

  test("is not given if another one fits as well", async () => {
    const other = pair("How much is a bus ticket on Sundays?", "It costs 1 crown.");
    expect(await ask("How much is a bus?", [pair("How much is a bus tour?", "9 crowns."), bus])).toBe(
      "not_found",
    );
    expect(await ask("How much is a bus ticket?", [bus, other])).toContain("2 crowns");
  });
});

describe("long texts", () => {
  /** Words of five letters, each another one. */
  const word = (index: number) =>
    Array.from({ length: 5 }, (_, place) =>
      String.fromCharCode(97 + (Math.floor(index / 26 ** place) % 26)),
    ).join("");
  const words = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => word(from + index)).join(" ");

  test("are divided into words in short pieces, because each word has a copy of its piece", async () => {
    const segment = vi.spyOn(Intl.Segmenter.prototype, "segment");
    const passages = Array.from({ length: 20 }, (_, index) =>
      pair(words(300, index * 1600), words(1300, index * 1600 + 300)),
    );
    expect(await ask(words(90, 500_000), passages)).toBe("not_found");
    const lengths = segment.mock.calls.map(([text]) => text.length);
    segment.mockRestore();
    expect(Math.max(...lengths)).toBeLessThanOrEqual(200);
  });

  test("have the same words in pieces", () => {
    const text = `${"The 1,000 ships aren't re-routed. ".repeat(20)}${"x".repeat(450)} ${"我们在这里。".repeat(30)}`;
    expect(wordsOf(text).slice(0, 120)).toEqual(
      Array.from({ length: 20 }, () => ["the", "1,000", "ships", "are", "re", "routed"]).flat(),
    );
    expect(wordsOf(text).filter((one) => one.startsWith("x"))).toEqual([
      "x".repeat(200),
      "x".repeat(200),
      "x".repeat(50),
    ]);
  });

  test("a question of more than 100 words is answered by a pair with the same question alone", async () => {
    const many = words(101, 1000);
    const same: Passage = {
      type: "qa_pair",
      score: 0.5,
      isRelevant: true,
      similarity: 0.96,
      question: "x",
      answer: "Yes.",
    };
    expect(await ask(many, [chunk(`${many}.`)])).toBe("not_found");
    expect(await ask(many, [same])).toBe("Yes.");
  });

  test("give a word of the question at most 5,000 others to compare, and at most 100 near ones", async () => {
    const others = new Map(Array.from({ length: 6_000 }, (_, index) => [word(index), word(index)]));
    const embed = vi.fn(async (texts: readonly string[]) => ({
      outcome: "embedded" as const,
      vectors: texts.map(() => new Float32Array([1])),
    }));
    const embedder = { ...options.embedder, embed };
    const near = await findNearWords(new Map([["ships", "ships"]]), others, { ...options, embedder });
    expect(embed.mock.calls[0]?.[0]).toHaveLength(1 + 5_000);
    expect(near.get("ships")?.size).toBe(100);
  });
});
