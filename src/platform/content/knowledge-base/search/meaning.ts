/** Search by meaning: finds the vectors that are near the query's vector. */

import type { Database } from "../../../../database/database.ts";
import { nullable, rowsOf } from "../../../../database/query/index.ts";
import { withDeadline } from "../../../../time/deadline.ts";
import type { World } from "../../../foundation/kernel/index.ts";
import { readVersion } from "../base.ts";
import {
  createVectorCache,
  meanScore,
  relevanceOf,
  type StoredVector,
  searchVectors,
  type VectorCache,
  type VectorKey,
  type VectorSet,
} from "../retrieval/index.ts";
import { chunkKey, pairKey } from "./keys.ts";

/** The time for embedding the query of a waiting person. After it, the search uses only words. */
const embedTimeoutMs = 5_000;

export interface MeaningMatch {
  readonly key: string;
  /** From 0 to 1: the cosine of the model. */
  readonly similarity: number;
}

export interface MeaningMatches {
  /** In descending order. */
  readonly matches: readonly MeaningMatch[];
  /** From this similarity on, a text is about the query. */
  readonly threshold: number;
}

/**
 * The threshold if the model's cosines are not known: a share of the way from the mean similarity of all
 * texts to 1, because models differ much in the values and range of their cosines. With fewer texts the mean
 * is not meaningful.
 */
const unknownModel = { share: 0.2, minTexts: 10 } as const;

/** The texts nearest to the query; undefined if the model does not answer. */
export async function findNearest(
  world: World,
  organization: string,
  { query, limit, signal }: { readonly query: string; readonly limit: number; readonly signal: AbortSignal },
): Promise<MeaningMatches | undefined> {
  const { embedder, database } = world;
  const version = await readVersion(database.queries, organization);
  const set = await cacheOf(database).read({ organization, model: embedder.model, version });
  if (set.ids.length === 0) {
    return { matches: [], threshold: 0 };
  }
  const vector = await embedQuery(world, query, signal);
  if (vector === undefined) {
    return undefined;
  }
  const nearest = await searchVectors(set, vector, limit);
  const matches = nearest
    .map(({ id, score }) => ({ key: id, similarity: relevanceOf({ score }) }))
    .filter(({ similarity }) => similarity > 0);
  return { matches, threshold: embedder.near?.passages ?? thresholdOf(set, vector) };
}

function thresholdOf(set: VectorSet, vector: Float32Array): number {
  if (set.ids.length < unknownModel.minTexts) {
    return 0;
  }
  const mean = meanScore(set, vector);
  return mean + unknownModel.share * (1 - mean);
}

async function embedQuery({ embedder, log }: World, query: string, signal: AbortSignal) {
  return withDeadline(embedTimeoutMs, [signal], async (deadline) => {
    try {
      const embedded = await embedder.embed([query], { signal: deadline.signal });
      if (embedded.outcome === "embedded") {
        return embedded.vectors[0];
      }
      log.warn({ reason: embedded.reason, detail: embedded.detail }, "A query could not be embedded.");
    } catch (error) {
      if (deadline.ended !== "timeout") {
        throw error;
      }
      log.warn({ reason: "timeout" }, "A query could not be embedded in time.");
    }
    return undefined;
  });
}

const caches = new WeakMap<Database, VectorCache>();

/** Each database of this process has one cache. */
function cacheOf(database: Database): VectorCache {
  const cache = caches.get(database) ?? createVectorCache({ load: (key) => loadVectors(database, key) });
  caches.set(database, cache);
  return cache;
}

const vectorColumns = {
  id: "text",
  /** Null for a QA pair. */
  position: nullable("integer"),
  embedding: "bytea",
} as const;

async function loadVectors(
  { queries }: Database,
  { organization, model }: VectorKey,
): Promise<readonly StoredVector[]> {
  const { rows } = await rowsOf(vectorColumns)`
    select chunk.document_id as id, chunk.position, chunk.embedding
    from knowledge_chunks as chunk
    join knowledge_documents as document on document.organization_id = chunk.organization_id
      and document.id = chunk.document_id and document.generation = chunk.generation
    where chunk.organization_id = ${organization} and chunk.model = ${model}
    union all
    select id, null, embedding from knowledge_qa_pairs
    where organization_id = ${organization} and model = ${model}
  `.execute(queries);
  return rows.map(({ id, position, embedding }) => ({
    id: position === null ? pairKey(id) : chunkKey(id, position),
    vector: embedding,
  }));
}
