/** The settings of the models: their addresses, and which settings need others. */
import { expect, test } from "vitest";
import { appSecrets, readConfig } from "../src/config/index.ts";
import { messages } from "../tools/messages/index.ts";

const secret = "a secret that must never be shown";

test("every setting of the models is read, and the keys are secrets", () => {
  const { config } = readConfig({
    TIDINGS_LLM_URL: "http://localhost:11434/v1/",
    TIDINGS_LLM_KEY: "sk-chat",
    TIDINGS_LLM_MODEL: "llama3.2:3b",
    TIDINGS_LLM_TIMEOUT: "28",
    TIDINGS_LLM_MONTHLY_TOKENS: "500000",
    TIDINGS_EMBEDDINGS_URL: "https://embeddings.example.com/v1",
    TIDINGS_EMBEDDINGS_KEY: "sk-embeddings",
    TIDINGS_EMBEDDINGS_MODEL: "text-embedding-3-small",
    TIDINGS_EMBEDDINGS_DIMENSIONS: "512",
    TIDINGS_EMBEDDINGS_TIMEOUT: "29",
    TIDINGS_TRANSCRIPTION_URL: "https://speech.example.com/v1",
    TIDINGS_TRANSCRIPTION_KEY: "sk-speech",
    TIDINGS_TRANSCRIPTION_MODEL: "large-v3",
    TIDINGS_TRANSCRIPTION_TIMEOUT: "27",
  });
  expect(config.models).toEqual({
    chat: {
      url: "http://localhost:11434/v1",
      key: "sk-chat",
      model: "llama3.2:3b",
      timeoutMs: 28_000,
      monthlyTokens: 500_000,
    },
    embeddings: {
      url: "https://embeddings.example.com/v1",
      key: "sk-embeddings",
      model: "text-embedding-3-small",
      dimensions: 512,
      timeoutMs: 29_000,
    },
    transcription: {
      url: "https://speech.example.com/v1",
      key: "sk-speech",
      model: "large-v3",
      timeoutMs: 27_000,
    },
  });
  expect(appSecrets(config)).toEqual(["sk-chat", "sk-embeddings", "sk-speech"]);
});

test("a transcript may take as long as the operation waits for it", () => {
  const { config } = readConfig({ TIDINGS_TRANSCRIPTION_URL: "http://localhost:1/v1" });
  expect(config.models.transcription).toEqual({
    url: "http://localhost:1/v1",
    key: undefined,
    model: "whisper-1",
    timeoutMs: (messages.view_media.waitSeconds ?? 0) * 1000,
  });
});

test("without a key, dimensions and time limits the models have the defaults", () => {
  const service = { url: "http://localhost:1/v1", model: "m" };
  const { config } = readConfig({
    TIDINGS_LLM_URL: service.url,
    TIDINGS_LLM_MODEL: service.model,
    TIDINGS_EMBEDDINGS_URL: service.url,
    TIDINGS_EMBEDDINGS_MODEL: service.model,
  });
  expect(config.models).toEqual({
    chat: { ...service, key: undefined, timeoutMs: 30_000, monthlyTokens: undefined },
    embeddings: { ...service, key: undefined, dimensions: undefined, timeoutMs: 60_000 },
    transcription: undefined,
  });
});

test.each([
  ["TIDINGS_LLM_KEY", "two words", "a key without spaces"],
  ["TIDINGS_LLM_TIMEOUT", "0", "a whole number from 1 to 300"],
  ["TIDINGS_LLM_MONTHLY_TOKENS", "0", "a whole number from 1 to 1000000000000"],
  ["TIDINGS_EMBEDDINGS_KEY", "two words", "a key without spaces"],
  ["TIDINGS_EMBEDDINGS_DIMENSIONS", "5000", "a whole number from 8 to 4096"],
  ["TIDINGS_EMBEDDINGS_TIMEOUT", "301", "a whole number from 1 to 300"],
  ["TIDINGS_TRANSCRIPTION_TIMEOUT", "46", "a whole number from 1 to 45"],
])("an invalid %s (%s) is rejected", (name, value, takes) => {
  expect(() => readConfig({ [name]: value })).toThrow(`${name} takes ${takes}.`);
});

test.each([
  "api.example.com/v1",
  "ftp://api.example.com",
  `https://me:${secret}@api.example.com`,
  "http://localhost/v1?version=1",
])("%s is no address of a model's service", (value) => {
  for (const name of ["TIDINGS_LLM_URL", "TIDINGS_EMBEDDINGS_URL", "TIDINGS_TRANSCRIPTION_URL"]) {
    expect(() => readConfig({ [name]: value })).toThrow(
      `${name} takes an address, http:// or https://, without a user name and without a query.`,
    );
  }
});

test.each([
  ["TIDINGS_LLM_URL", "http://localhost:11434/v1", "TIDINGS_LLM_MODEL takes a value when another one of"],
  ["TIDINGS_LLM_MODEL", "llama3.2:3b", "TIDINGS_LLM_URL takes a value when another one of"],
  ["TIDINGS_LLM_KEY", "sk-chat", "TIDINGS_LLM_URL takes a value when TIDINGS_LLM_KEY is set."],
  ["TIDINGS_EMBEDDINGS_MODEL", "bge-m3", "TIDINGS_EMBEDDINGS_URL takes a value when another one of"],
  [
    "TIDINGS_EMBEDDINGS_KEY",
    "sk-e",
    "TIDINGS_EMBEDDINGS_URL takes a value when TIDINGS_EMBEDDINGS_KEY is set.",
  ],
  [
    "TIDINGS_EMBEDDINGS_DIMENSIONS",
    "512",
    "TIDINGS_EMBEDDINGS_URL takes a value when TIDINGS_EMBEDDINGS_DIMENSIONS is set.",
  ],
  [
    "TIDINGS_TRANSCRIPTION_MODEL",
    "whisper-1",
    "TIDINGS_TRANSCRIPTION_URL takes a value when TIDINGS_TRANSCRIPTION_MODEL is set.",
  ],
])("%s alone is rejected", (name, value, message) => {
  expect(() => readConfig({ [name]: value })).toThrow(message);
});
