/** Embedding models behind the API of OpenAI, over HTTP to a scripted service. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createEmbedder } from "../src/adapters/models/openai/index.ts";
import { type ModelService, startModelService } from "./support/model-service.ts";

const key = "sk-test-0123456789abcdef";
const { signal } = new AbortController();

let service: ModelService;
beforeAll(async () => {
  service = await startModelService();
});
afterAll(() => service[Symbol.asyncDispose]());
beforeEach(() => {
  service.requests.length = 0;
});

const openEmbedder = (dimensions?: number) =>
  createEmbedder({ url: service.url, key, model: "vectors", timeoutMs: 30_000, dimensions });

describe("embeddings", () => {
  test("are in the order of the texts, of length 1, and sent in batches", async () => {
    const texts = Array.from({ length: 70 }, (_, index) => `text ${"a".repeat(index)}`);
    const embedded = await openEmbedder().embed(texts, { signal });
    expect(service.requests.map(({ path, body }) => [path, (body.input as string[]).length])).toEqual([
      ["/v1/embeddings", 32],
      ["/v1/embeddings", 32],
      ["/v1/embeddings", 6],
    ]);
    expect(service.requests[0]?.body).toMatchObject({ model: "vectors", encoding_format: "float" });
    expect(service.requests[0]?.body).not.toHaveProperty("dimensions");
    const vectors = embedded.outcome === "embedded" ? embedded.vectors : [];
    // The second dimension counts the letter a.
    expect(vectors.map(([one = 0, letterA = 0]) => Math.round(letterA / one))).toEqual(
      texts.map((_, n) => n),
    );
    for (const vector of vectors) {
      expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    }
  });

  test("of long texts are sent in smaller batches", async () => {
    await openEmbedder().embed(["a".repeat(60_000), "b".repeat(60_000), "c", "d".repeat(200_000)], {
      signal,
    });
    expect(service.requests.map(({ body }) => (body.input as string[]).length)).toEqual([1, 2, 1]);
  });

  test("of no texts need no request", async () => {
    expect(await openEmbedder().embed([], { signal })).toEqual({ outcome: "embedded", vectors: [] });
    expect(service.requests).toEqual([]);
  });

  test("have the dimensions of the settings, which are a part of the model's name", async () => {
    const embedder = openEmbedder(27);
    expect(await embedder.embed(["one"], { signal })).toMatchObject({ outcome: "embedded" });
    expect(service.requests[0]?.body).toMatchObject({ dimensions: 27 });
    expect([embedder.model, openEmbedder().model]).toEqual(["vectors/27", "vectors"]);
    const failed = await openEmbedder(28).embed(["one"], { signal });
    expect(failed).toMatchObject({ outcome: "failed", reason: "malformed" });
  });

  const vector = (index: number, embedding: unknown = [3, 4]) => ({ index, embedding });
  test.each([
    ["a vector too few", [vector(0)]],
    ["a vector too many", [vector(0), vector(1), vector(2)]],
    ["an index twice", [vector(0), vector(0)]],
    ["vectors of different lengths", [vector(0), vector(1, [1, 2, 3])]],
    ["a vector of length zero", [vector(0), vector(1, [0, 0])]],
    ["base64", [vector(0, "AAAA"), vector(1, "AAAA")]],
  ])("with %s fail", async (_, data) => {
    service.answerNext({ body: { data } });
    expect(await openEmbedder().embed(["one", "two"], { signal })).toMatchObject({
      outcome: "failed",
      reason: "malformed",
    });
  });

  test("of another length than the first ones fail", async () => {
    const embedder = openEmbedder();
    await embedder.embed(["one"], { signal });
    service.answerNext({ body: { data: [vector(0)] } });
    expect(await embedder.embed(["one"], { signal })).toMatchObject({ reason: "malformed" });
  });

  test("fail as a whole if a batch fails", async () => {
    service.answerNext({ body: { data: Array.from({ length: 32 }, (_, index) => vector(index)) } });
    service.answerNext({ status: 401 });
    const texts = Array.from({ length: 40 }, () => "text");
    expect(await openEmbedder().embed(texts, { signal })).toMatchObject({
      outcome: "failed",
      reason: "rejected",
      detail: "The model's service rejected the key: check TIDINGS_EMBEDDINGS_KEY.",
    });
  });
});
