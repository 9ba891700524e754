/** An embedding model behind `POST {base}/embeddings`. */
import { z } from "zod";
import type { Embedder, Embeddings } from "../../../ports/models/embedder.ts";
import type { ModelFailure } from "../../../ports/models/language-model.ts";
import { unreadable } from "./answers.ts";
import { callEndpoint, type Delay, type Endpoint, type EndpointSettings } from "./endpoint.ts";

export interface EmbedderSettings extends EndpointSettings {
  /** The requested length of vectors; undefined: the model's own length. */
  readonly dimensions: number | undefined;
}

/** The limits of one request. Services on this machine compute the vectors of a batch one after the other. */
const maxBatchTexts = 32;
const maxBatchCharacters = 100_000;

/** 32 vectors of 4,096 numbers with 20 characters are 2.6 MB. */
const maxAnswerBytes = 8_000_000;

const EmbeddingsAnswer = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1) })),
});

export function createEmbedder(settings: EmbedderSettings, wait?: Delay): Embedder {
  const endpoint = { ...settings, prefix: "TIDINGS_EMBEDDINGS", ...(wait ? { wait } : {}) } as const;
  const { model, dimensions } = settings;
  // Known after the first answer if it is not set.
  let length = dimensions;
  return {
    model: dimensions === undefined ? model : `${model}/${dimensions}`,
    languageNote: `The languages of the model ${model}.`,
    async embed(texts, { signal }) {
      signal.throwIfAborted();
      const vectors: Float32Array[] = [];
      for (const batch of toBatches(texts)) {
        const embedded = await embedBatch(endpoint, batch, { dimensions, length, signal });
        if (embedded.outcome === "failed") {
          return embedded;
        }
        length = embedded.vectors[0]?.length;
        vectors.push(...embedded.vectors);
      }
      return { outcome: "embedded", vectors };
    },
  };
}

interface BatchOptions {
  readonly dimensions: number | undefined;
  /** The length that vectors must have; undefined: any length. */
  readonly length: number | undefined;
  readonly signal: AbortSignal;
}

async function embedBatch(
  endpoint: Endpoint,
  input: readonly string[],
  { dimensions, length, signal }: BatchOptions,
): Promise<Embeddings | ModelFailure> {
  const body = { input, encoding_format: "float", ...(dimensions === undefined ? {} : { dimensions }) };
  const answer = await callEndpoint(endpoint, { path: "/embeddings", body, maxAnswerBytes, signal });
  if (!("value" in answer)) {
    return answer.failure;
  }
  const parsed = EmbeddingsAnswer.safeParse(answer.value);
  if (!parsed.success) {
    return unreadable("has an unknown form");
  }
  const data = parsed.data.data.sort((one, other) => one.index - other.index);
  if (data.length !== input.length || data.some(({ index }, position) => index !== position)) {
    return unreadable(`has ${data.length} vectors for ${input.length} texts, or gives them other numbers`);
  }
  const expected = length ?? data[0]?.embedding.length;
  if (data.some(({ embedding }) => embedding.length !== expected)) {
    return unreadable(`has vectors of another length than ${expected}`);
  }
  const vectors = data.map(({ embedding }) => normalize(embedding));
  return vectors.every((vector) => vector !== undefined)
    ? { outcome: "embedded", vectors }
    : unreadable("has a vector without a direction");
}

/** Batches within the limits. A longer text gets a batch of its own. */
function toBatches(texts: readonly string[]): string[][] {
  const batches: string[][] = [];
  let characters = 0;
  for (const text of texts) {
    const batch = batches.at(-1);
    characters += text.length;
    if (batch && batch.length < maxBatchTexts && characters <= maxBatchCharacters) {
      batch.push(text);
    } else {
      batches.push([text]);
      characters = text.length;
    }
  }
  return batches;
}

/** Returns undefined for a zero vector. */
function normalize(numbers: readonly number[]): Float32Array | undefined {
  const length = Math.hypot(...numbers);
  return length > 0 && Number.isFinite(length)
    ? Float32Array.from(numbers, (one) => one / length)
    : undefined;
}
