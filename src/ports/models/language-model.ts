/**
 * The port to a language model. Called outside any transaction.
 *
 * Without one (`world.languageModel` is undefined) the platform answers with the passages that it finds.
 */

export interface LanguageModelMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

export interface CompletionRequest {
  /** Instructions; text of customers and documents belongs into the messages. */
  readonly system: string;
  /** At least one; the last one is the user's. */
  readonly messages: readonly LanguageModelMessage[];
  /** In tokens of the model. An answer that would be longer fails with `too_long`. */
  readonly maxOutputTokens: number;
  readonly signal: AbortSignal;
}

/** Tokens as the model's service counts and charges them. */
export interface TokenUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

export type ModelFailureReason =
  /** No answer in the time of the settings, which covers all attempts. */
  | "timeout"
  | "rate_limited"
  /** The service can't be reached, or reports an error of its own. */
  | "unavailable"
  /** The answer has an unknown form. */
  | "malformed"
  /** The answer has no text. */
  | "empty"
  /** The input, or the answer, is longer than the model or the request allows. */
  | "too_long"
  /** The service does not accept the key, the model or the content. */
  | "rejected";

/** A call of a model that failed, after the retries that were sensible at once. */
export interface ModelFailure {
  readonly outcome: "failed";
  readonly reason: ModelFailureReason;
  /** A sentence for the operator: without keys, and without text of the customer or of the service. */
  readonly detail: string;
  /** Whether the same call may succeed later without a change of its input or of the settings. */
  readonly isRetryable: boolean;
  /** How long the service asks to wait, if it says so. */
  readonly retryAfterMs?: number;
}

export interface Completion {
  readonly outcome: "answered";
  /** Trimmed, not empty. It was written by a model: treat it as untrusted text. */
  readonly text: string;
  /** Null if the service does not report it. */
  readonly usage: TokenUsage | null;
}

export interface LanguageModel {
  /** The model's name at its service. */
  readonly model: string;
  /** @throws the reason of `signal` when it is aborted, and nothing else. */
  complete(request: CompletionRequest): Promise<Completion | ModelFailure>;
}
