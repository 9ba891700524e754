/** Opens the models from the settings; without settings, the built-in embedder and no language model. */
import type { Embedder } from "../../ports/models/embedder.ts";
import type { LanguageModel } from "../../ports/models/language-model.ts";
import { createEnglishEmbedder } from "./english/index.ts";
import {
  createEmbedder,
  createLanguageModel,
  type EmbedderSettings,
  type EndpointSettings,
} from "./openai/index.ts";

export interface ModelSettings {
  readonly chat: (EndpointSettings & { readonly monthlyTokens: number | undefined }) | undefined;
  readonly embeddings: EmbedderSettings | undefined;
}

export interface Models {
  readonly embedder: Embedder;
  readonly languageModel: LanguageModel | undefined;
  /** How many tokens of the language model an organization may use per month; undefined: no limit. */
  readonly monthlyTokens: number | undefined;
}

export function openModels({ chat, embeddings }: ModelSettings): Models {
  return {
    embedder: embeddings ? createEmbedder(embeddings) : createEnglishEmbedder(),
    languageModel: chat ? createLanguageModel(chat) : undefined,
    monthlyTokens: chat?.monthlyTokens,
  };
}
