/** The port to an embedding model, which gives texts of similar meaning similar vectors. Called outside any transaction. */
import type { ModelFailure } from "./language-model.ts";

export interface Embeddings {
  readonly outcome: "embedded";
  /**
   * One for each text, in order, all of the same number of dimensions. Of length 1, so that the dot product of two is
   * their cosine; a text without a letter or digit may have the zero vector.
   */
  readonly vectors: readonly Float32Array[];
}

export interface Embedder {
  /**
   * Names the model and what else decides about the vectors. Store it with each vector: vectors of different models
   * can't be compared.
   */
  readonly model: string;
  /** A sentence for a status page: which languages the model understands, as far as is known. */
  readonly languageNote: string;
  /**
   * The cosines from which two words, and two questions, mean nearly the same, and from which a passage is about a question.
   * Undefined if they are not known: then words and questions are compared by their words alone.
   */
  readonly near?: { readonly words: number; readonly questions: number; readonly passages: number };
  /**
   * Embeds any number of texts; the adapter sends them in batches. Either all are embedded or the call fails.
   * @throws the reason of `signal` when it is aborted.
   */
  embed(
    texts: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<Embeddings | ModelFailure>;
}
