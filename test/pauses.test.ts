/** Pauses: long computations let the event loop serve requests, one computation in each turn. */
import { describe, expect, test } from "vitest";
import { createEnglishEmbedder } from "../src/adapters/models/english/index.ts";
import { type Passage, respond } from "../src/platform/automation/chatbot/responders/index.ts";
import {
  cleanBlocks,
  divideBlocks,
  findDocumentWarnings,
  toChunks,
} from "../src/platform/content/knowledge-base/chunks/index.ts";
import { pause } from "../src/time/pauses.ts";
import { countTurns } from "./support/turns.ts";

const { signal } = new AbortController();
const embedder = createEnglishEmbedder();

test("many computations at once take turns, and only one goes on in a turn of the event loop", async () => {
  const order: string[] = [];
  const compute = async (name: string) => {
    for (let step = 1; step <= 3; step += 1) {
      await pause();
      order.push(`${name}${step}`);
    }
  };
  const { turns } = await countTurns(() => Promise.all([compute("a"), compute("b"), compute("c")]));
  expect(order).toEqual(["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]);
  expect(turns).toBeGreaterThanOrEqual(order.length);
});

test("each text is embedded in a turn of its own", async () => {
  const texts = Array.from({ length: 40 }, (_, index) => `Text ${index}`);
  await embedder.embed(["load"], { signal });
  const { result, turns } = await countTurns(() => embedder.embed(texts, { signal }));
  expect(result).toMatchObject({ outcome: "embedded" });
  expect(turns).toBeGreaterThanOrEqual(texts.length);
});

test("the quoting responder pauses between passages, words and sentences", async () => {
  const content = Array.from({ length: 40 }, (_, index) => `Sentence ${index} is about lanes.`).join(" ");
  const passages = Array.from({ length: 5 }, (_, chunk): Passage => {
    const place = { document_id: "doc_1", document_name: "pool.html", heading: null, page: null, chunk };
    return { type: "chunk", score: 0.5, isRelevant: true, ...place, content };
  });
  const question = { text: "Which sentence is about ships?", history: [], passages, terms: [] };
  const options = { instructions: undefined, maxTokens: 800, embedder, signal };
  const { result, turns } = await countTurns(() => respond(undefined, question, options));
  expect(result.outcome).toBe("unknown");
  expect(turns).toBeGreaterThanOrEqual(5 * 40);
});

describe("a large document", () => {
  const paragraph = (text: string) => ({ kind: "text" as const, text, page: null });

  test("is divided into blocks of at most 50,000 characters, at spaces, and tables keep their header", async () => {
    const text = "word ".repeat(25_000);
    const rows = ["a | b", ...Array.from({ length: 20_000 }, (_, index) => `${index} | x`)];
    const blocks = await divideBlocks([
      paragraph(text),
      { kind: "table", rows, page: 1 },
      paragraph("short"),
    ]);
    const texts = blocks.map((block) => (block.kind === "table" ? block.rows.join("\n") : block.text));
    expect(texts.every((one) => one.length <= 50_001)).toBe(true);
    const paragraphs = blocks.flatMap((block) => (block.kind === "text" ? [block.text] : []));
    expect(paragraphs.join("")).toBe(`${text}short`);
    expect(
      paragraphs.flatMap((one) => one.trim().split(" ")).every((one) => one === "word" || one === "short"),
    ).toBe(true);
    const tables = blocks.filter((block) => block.kind === "table");
    expect(tables.map((block) => block.rows[0])).toEqual(tables.map(() => "a | b"));
    expect(tables.flatMap((block) => block.rows.slice(1))).toEqual(rows.slice(1));
  });

  test("is divided anywhere but within a character, without spaces", async () => {
    const text = `a${"😀".repeat(60_000)}`;
    const blocks = await divideBlocks([paragraph(text)]);
    const texts = blocks.map((block) => (block.kind === "table" ? "" : block.text));
    expect(texts.join("")).toBe(text);
    expect(texts.every((one) => one.isWellFormed())).toBe(true);
  });

  test("is cleaned, chunked and checked in many turns of the event loop", async () => {
    const document = [paragraph("A sentence of a long document. ".repeat(20_000))];
    const { result: blocks, turns: dividing } = await countTurns(() => divideBlocks(document));
    const { turns: cleaning } = await countTurns(() => cleanBlocks(blocks));
    const { result: chunks, turns: chunking } = await countTurns(() => toChunks(blocks));
    const { turns: checking } = await countTurns(() => findDocumentWarnings(blocks, chunks, 0));
    expect(blocks.length).toBeGreaterThanOrEqual(12);
    expect([
      dividing >= 1,
      cleaning >= blocks.length,
      chunking >= blocks.length,
      checking >= chunks.length,
    ]).toEqual([true, true, true, true]);
  });
});
