/** The input and output of a responder. */
import type { TokenUsage } from "../../../../ports/models/language-model.ts";
import type { FoundChunk, FoundPair, QueryWord } from "../../../content/knowledge-base/index.ts";

/** A question with its answer, or a chunk of a document, that the knowledge base has for a message. */
export type Passage =
  | (Pick<FoundPair, "type" | "score" | "isRelevant" | "question" | "answer"> &
      Partial<Pick<FoundPair, "similarity">>)
  | Omit<FoundChunk, "coverage" | "similarity">;

/** Why there is no answer. A failure of the model is `model_` and the model's reason. */
export type UnknownReason =
  | "not_found"
  | "ambiguous"
  | "not_known"
  | "no_citation"
  | "unknown_citation"
  | "dictated"
  | "unknown_link"
  | "answer_too_long"
  | "prompt_repeated"
  | "token_limit"
  | `model_${string}`;

export interface Responder {
  /** The model that wrote the answer, or failed to; null: the answer is quoted. */
  readonly model: string | null;
  readonly usage: TokenUsage | null;
}

export type Answer = Responder &
  (
    | { readonly outcome: "answered"; readonly text: string; readonly sources: readonly Passage[] }
    | { readonly outcome: "unknown"; readonly reason: UnknownReason }
  );

/** An earlier message of the conversation. */
export interface HistoryMessage {
  readonly from: "contact" | "business";
  readonly text: string;
}

export interface Question {
  readonly text: string;
  /** Oldest first. */
  readonly history: readonly HistoryMessage[];
  /** Best first. */
  readonly passages: readonly Passage[];
  /** How rare the words of the text are in the knowledge base. */
  readonly terms: readonly QueryWord[];
}
