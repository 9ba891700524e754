/** Opens the models from the settings; without settings, the built-in embedder and no other model. */
import type { Embedder } from "../../ports/models/embedder.ts";
import type { LanguageModel } from "../../ports/models/language-model.ts";
import type { Transcriber } from "../../ports/models/transcriber.ts";
import { createEnglishEmbedder } from "./english/index.ts";
import {
  createEmbedder,
  createLanguageModel,
  createTranscriber,
  type EmbedderSettings,
  type EndpointSettings,
} from "./openai/index.ts";

export interface ModelSettings {
  readonly chat: (EndpointSettings & { readonly monthlyTokens: number | undefined }) | undefined;
  readonly embeddings: EmbedderSettings | undefined;
  readonly transcription: EndpointSettings | undefined;
}

export interface Models {
  readonly embedder: Embedder;
  readonly languageModel: LanguageModel | undefined;
  readonly transcriber: Transcriber | undefined;
  /** How many tokens of the language model an organization may use per month; undefined: no limit. */
  readonly monthlyTokens: number | undefined;
}

export function openModels({ chat, embeddings, transcription }: ModelSettings): Models {
  return {
    embedder: embeddings ? createEmbedder(embeddings) : createEnglishEmbedder(),
    languageModel: chat ? createLanguageModel(chat) : undefined,
    transcriber: transcription ? createTranscriber(transcription) : undefined,
    monthlyTokens: chat?.monthlyTokens,
  };
}
