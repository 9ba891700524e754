/** The settings of the language model, the embedding model and the transcription model. */
import { z } from "zod";
import { serviceKey, serviceUrl, wholeNumber } from "./fields.ts";

/** A caller waits for it, by the declaration of `view_media`. */
const maxTranscriptionSeconds = 45;

export const ModelEnvironment = z.object({
  TIDINGS_LLM_URL: serviceUrl
    .optional()
    .describe(
      "Base URL of an OpenAI-compatible chat service, for example `https://api.openai.com/v1` or `http://localhost:11434/v1`; with `TIDINGS_LLM_MODEL`. Default: answers are quoted from the knowledge base",
    ),
  TIDINGS_LLM_KEY: serviceKey.optional().describe("API key of the chat service, if it needs one"),
  TIDINGS_LLM_MODEL: z.string().optional().describe("Name of the chat model at its service"),
  TIDINGS_LLM_TIMEOUT: wholeNumber(1, 300)
    .default(30)
    .describe("Seconds that an answer of the chat model may take, retries included"),
  TIDINGS_LLM_MONTHLY_TOKENS: wholeNumber(1, 1_000_000_000_000)
    .optional()
    .describe(
      "Tokens, of input and output, that the chatbot of each organization may use in a calendar month (UTC). Default: no limit",
    ),
  TIDINGS_EMBEDDINGS_URL: serviceUrl
    .optional()
    .describe(
      "Base URL of an OpenAI-compatible embedding service, with `TIDINGS_EMBEDDINGS_MODEL`. Default: the built-in model, for English only",
    ),
  TIDINGS_EMBEDDINGS_KEY: serviceKey.optional().describe("API key of the embedding service, if it needs one"),
  TIDINGS_EMBEDDINGS_MODEL: z.string().optional().describe("Name of the embedding model at its service"),
  TIDINGS_EMBEDDINGS_DIMENSIONS: wholeNumber(8, 4_096)
    .optional()
    .describe("Asks the embedding model for vectors of this length. Default: the model's own"),
  TIDINGS_EMBEDDINGS_TIMEOUT: wholeNumber(1, 300)
    .default(60)
    .describe("Seconds that the embedding of 32 texts may take, retries included"),
  TIDINGS_TRANSCRIPTION_URL: serviceUrl
    .optional()
    .describe(
      "Base URL of an OpenAI-compatible transcription service, which `view_media` uses for voice notes. Default: none, and `view_media` says so",
    ),
  TIDINGS_TRANSCRIPTION_KEY: serviceKey
    .optional()
    .describe("API key of the transcription service, if it needs one"),
  TIDINGS_TRANSCRIPTION_MODEL: z
    .string()
    .optional()
    .describe("Name of the transcription model at its service. Default: `whisper-1`"),
  TIDINGS_TRANSCRIPTION_TIMEOUT: wholeNumber(1, maxTranscriptionSeconds)
    .default(maxTranscriptionSeconds)
    .describe("Seconds that a transcript may take, retries included"),
});
type ModelEnvironment = z.output<typeof ModelEnvironment>;

/** Returns undefined if there is no language model. */
export function readChatSettings(env: ModelEnvironment) {
  const { TIDINGS_LLM_URL: url, TIDINGS_LLM_MODEL: model, TIDINGS_LLM_KEY: key } = env;
  const timeoutMs = env.TIDINGS_LLM_TIMEOUT * 1000;
  const monthlyTokens = env.TIDINGS_LLM_MONTHLY_TOKENS;
  return url !== undefined && model !== undefined ? { url, key, model, timeoutMs, monthlyTokens } : undefined;
}

/** Returns undefined for the built-in model. */
export function readEmbeddingsSettings(env: ModelEnvironment) {
  const { TIDINGS_EMBEDDINGS_URL: url, TIDINGS_EMBEDDINGS_MODEL: model } = env;
  const { TIDINGS_EMBEDDINGS_KEY: key, TIDINGS_EMBEDDINGS_DIMENSIONS: dimensions } = env;
  const timeoutMs = env.TIDINGS_EMBEDDINGS_TIMEOUT * 1000;
  return url !== undefined && model !== undefined ? { url, key, model, dimensions, timeoutMs } : undefined;
}

/** Returns undefined if there is no transcription service. */
export function readTranscriptionSettings(env: ModelEnvironment) {
  const { TIDINGS_TRANSCRIPTION_URL: url, TIDINGS_TRANSCRIPTION_KEY: key } = env;
  const { TIDINGS_TRANSCRIPTION_MODEL: model = "whisper-1" } = env;
  const timeoutMs = env.TIDINGS_TRANSCRIPTION_TIMEOUT * 1000;
  return url === undefined ? undefined : { url, key, model, timeoutMs };
}
