/**
 * Language models behind the API of OpenAI, over HTTP to a scripted service: answers, retries,
 * limits, and the key.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openModels } from "../src/adapters/models/index.ts";
import { createLanguageModel } from "../src/adapters/models/openai/index.ts";
import { readConfig } from "../src/config/index.ts";
import { modules } from "../src/platform/index.ts";
import { startTestApp } from "./support/app.ts";
import { meanwhile } from "./support/meanwhile.ts";
import { chatAnswer, errorAnswer, type ModelService, startModelService } from "./support/model-service.ts";
import { createWorldProbe } from "./support/world.ts";

const key = "sk-test-0123456789abcdef";
const { signal } = new AbortController();
const question = {
  system: "Answer briefly.",
  maxOutputTokens: 100,
  signal,
  messages: [{ role: "user", content: "What do you sell?" }],
} as const;
const answered = {
  outcome: "answered",
  text: "The scripted answer.",
  usage: { input_tokens: 21, output_tokens: 7 },
};

let service: ModelService;
let other: ModelService;
let waits: number[];
beforeAll(async () => {
  service = await startModelService();
  other = await startModelService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});
beforeEach(() => {
  service.requests.length = 0;
  waits = [];
});

const wait = async (ms: number) => void waits.push(ms);
const openChat = ({ timeoutMs = 30_000 } = {}) =>
  createLanguageModel({ url: service.url, key, model: "small", timeoutMs }, wait);
test("a completion sends the model, the messages and the key, and returns text and usage", async () => {
  expect(await openChat().complete(question)).toEqual(answered);
  const [request] = service.requests;
  expect(request).toMatchObject({
    path: "/v1/chat/completions",
    headers: { authorization: `Bearer ${key}` },
    body: {
      model: "small",
      messages: [
        { role: "system", content: "Answer briefly." },
        { role: "user", content: "What do you sell?" },
      ],
      max_tokens: 100,
    },
  });
});

test("usage that is missing or odd is null", async () => {
  service.answerNext({ body: { ...chatAnswer("Yes."), usage: { prompt_tokens: "many" } } });
  expect(await openChat().complete(question)).toEqual({ outcome: "answered", text: "Yes.", usage: null });
});

test("without a key no credential is sent", async () => {
  const model = createLanguageModel({ url: service.url, key: undefined, model: "small", timeoutMs: 30_000 });
  await model.complete(question);
  expect(service.requests[0]?.headers).not.toHaveProperty("authorization");
});

describe("a retry", () => {
  test.each([429, 500, 502, 503, 504])("follows status %i", async (status) => {
    service.answerNext({ status, body: "busy" });
    expect(await openChat().complete(question)).toEqual(answered);
    expect(waits).toEqual([500]);
  });

  test("follows a broken connection", async () => {
    service.answerNext("drop");
    expect(await openChat().complete(question)).toEqual(answered);
    expect(service.requests).toHaveLength(2);
  });

  test("waits as long as the service asks", async () => {
    service.answerNext({ status: 429, headers: { "retry-after": "7" } });
    expect(await openChat().complete(question)).toEqual(answered);
    expect(waits).toEqual([7_000]);
  });

  test.each([
    ["longer than any wait", "3600", 600_000],
    ["longer than the time of the call", "7", 5_000],
  ])("does not wait %s", async (_, seconds, timeoutMs) => {
    service.answerNext({ status: 429, headers: { "retry-after": seconds } });
    expect(await openChat({ timeoutMs }).complete(question)).toMatchObject({
      outcome: "failed",
      reason: "rate_limited",
      isRetryable: true,
      retryAfterMs: Number(seconds) * 1000,
    });
    expect([waits, service.requests.length]).toEqual([[], 1]);
  });

  test("ends after three attempts", async () => {
    service.answerNext({ status: 503 }, { status: 500 }, { status: 503 }, { status: 503 });
    expect(await openChat().complete(question)).toMatchObject({ reason: "unavailable", isRetryable: true });
    expect(waits).toEqual([500, 2_000]);
    // The fourth answer was not used.
    expect(await openChat().complete(question)).toEqual(answered);
  });

  test.each([
    ["of an account without credit", errorAnswer(429, { code: "insufficient_quota" }), "rejected"],
    ["of a wrong key", errorAnswer(401, { code: "invalid_api_key", message: `Bad key ${key}` }), "rejected"],
    ["of an unknown model", errorAnswer(404, { code: "model_not_found" }), "rejected"],
    ["of a bad request", errorAnswer(400, { message: `You sent ${key}` }), "rejected"],
    ["of an input that is too long", errorAnswer(400, { code: "context_length_exceeded" }), "too_long"],
    [
      "of an input that is too long for vLLM",
      errorAnswer(400, { message: "This model's maximum context length is 4096 tokens." }),
      "too_long",
    ],
    ["of an input that is too long for a proxy", { status: 413, body: "" }, "too_long"],
  ])("does not follow the error %s", async (_, answer, reason) => {
    service.answerNext(answer);
    const failure = await openChat().complete(question);
    expect(failure).toMatchObject({ outcome: "failed", reason, isRetryable: false });
    expect(service.requests).toHaveLength(1);
    expect(JSON.stringify(failure)).not.toContain(key);
  });
});

describe("an answer", () => {
  test.each([
    ["without JSON", { body: "<html>" }, "malformed"],
    ["with another form", { body: { choices: [{ text: "old" }] } }, "malformed"],
    ["without choices", { body: { choices: [] } }, "empty"],
    ["without content", { body: chatAnswer(null) }, "empty"],
    ["of white space", { body: chatAnswer(" \n") }, "empty"],
    ["that was cut", { body: chatAnswer("And then", "length") }, "too_long"],
    ["that was filtered", { body: chatAnswer(null, "content_filter") }, "rejected"],
    ["of three megabytes", { body: chatAnswer("x".repeat(3_000_000)) }, "malformed"],
  ])("%s fails", async (_, answer, reason) => {
    service.answerNext(answer);
    expect(await openChat().complete(question)).toMatchObject({ outcome: "failed", reason });
    expect(service.requests).toHaveLength(1);
  });

  test.each(["hang", "stall"] as const)("that is late (%s) is a time-out", async (fault) => {
    service.answerNext(fault);
    expect(await openChat({ timeoutMs: 1_000 }).complete(question)).toMatchObject({
      outcome: "failed",
      reason: "timeout",
      isRetryable: true,
    });
    expect(service.requests).toHaveLength(1);
  });

  test("is not awaited after the caller's abort, whose reason is thrown", async () => {
    const controller = new AbortController();
    service.answerNext("hang");
    const completion = openChat().complete({ ...question, signal: controller.signal });
    await meanwhile(expect(completion).rejects.toThrow("the caller left"), async () => {
      await expect.poll(() => service.requests.length).toBe(1);
      controller.abort(new Error("the caller left"));
    });
  });
});

test("a service that can't be reached is unavailable", async () => {
  // No service has this port.
  const url = "http://127.0.0.1:1";
  const model = createLanguageModel({ url, key, model: "small", timeoutMs: 30_000 }, wait);
  expect(await model.complete(question)).toEqual({
    outcome: "failed",
    reason: "unavailable",
    isRetryable: true,
    detail: "The connection to the model's service failed (ECONNREFUSED).",
  });
});

describe("a parameter that a model refuses", () => {
  test("is replaced, and the next call knows it", async () => {
    const model = openChat();
    const refuse = (param: string, code: string) => errorAnswer(400, { param, code });
    service.answerNext(
      refuse("max_tokens", "unsupported_parameter"),
      refuse("temperature", "unsupported_value"),
    );
    expect(await model.complete(question)).toEqual(answered);
    expect(await model.complete(question)).toEqual(answered);
    const sent = service.requests.map(({ body }) =>
      ["max_tokens", "max_completion_tokens", "temperature"].filter((name) => name in body),
    );
    const last = ["max_completion_tokens"];
    expect(sent).toEqual([["max_tokens", "temperature"], [...last, "temperature"], last, last]);
  });

  test("a second time ends the call", async () => {
    const refusal = errorAnswer(400, { param: "max_tokens", code: "unsupported_parameter" });
    service.answerNext(refusal, refusal);
    expect(await openChat().complete(question)).toMatchObject({ reason: "rejected" });
    expect(service.requests).toHaveLength(2);
  });
});

test("a redirect is not followed, and the key goes nowhere else", async () => {
  for (const status of [301, 302, 307, 308]) {
    service.answerNext({ status, headers: { location: `${other.url}/chat/completions` } });
    const failure = await openChat().complete(question);
    expect(failure).toMatchObject({ reason: "rejected", isRetryable: false });
    expect(failure).toHaveProperty("detail", expect.stringContaining("TIDINGS_LLM_URL"));
  }
  expect([service.requests.length, other.requests.length]).toEqual([4, 0]);
});

test("the settings choose the models", async () => {
  const none = openModels(readConfig({}).config.models);
  expect([none.embedder.model, none.languageModel]).toEqual(["tidings-english-1", undefined]);
  const { config } = readConfig({
    TIDINGS_LLM_URL: service.url,
    TIDINGS_LLM_MODEL: "small",
    TIDINGS_LLM_KEY: key,
    TIDINGS_EMBEDDINGS_URL: other.url,
    TIDINGS_EMBEDDINGS_MODEL: "vectors",
  });
  const { embedder, languageModel } = openModels(config.models);
  expect([embedder.model, languageModel?.model]).toEqual(["vectors", "small"]);
  await embedder.embed(["one"], { signal });
  await languageModel?.complete(question);
  // Each service gets its own key alone.
  expect(service.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${key}`]);
  expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

test("the app gives its models to the platform", async () => {
  const { probe, readWorld } = createWorldProbe();
  await using app = await startTestApp({
    env: { TIDINGS_LLM_URL: service.url, TIDINGS_LLM_MODEL: "small", TIDINGS_LLM_KEY: key },
    enabledModules: { ...modules, probe },
  });
  const { embedder, languageModel } = await readWorld(app);
  expect(await languageModel?.complete(question)).toEqual(answered);
  expect(await embedder.embed(["Hello"], { signal })).toMatchObject({ outcome: "embedded" });
});
