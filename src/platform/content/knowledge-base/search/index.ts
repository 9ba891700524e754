/**
 * Searches a knowledge base by words and by meaning, and fuses both rankings.
 *
 * A QA pair whose question is the query, or nearly so, precedes everything else. All other QA pairs and
 * chunks are in the order of the fused rankings.
 */
import { columnOf, columnsOf, type RowOf, recordset, rowsOf } from "../../../../database/query/index.ts";
import type { World } from "../../../foundation/kernel/index.ts";
import { fuseRankings } from "../retrieval/index.ts";
import { readChunkKey } from "./keys.ts";
import { findNearest, type MeaningMatches } from "./meaning.ts";
import { readTerms, type Term } from "./terms.ts";
import { findChunks, findPairs, type WordMatch } from "./words.ts";

export type SearchMode = "hybrid" | "full_text" | "vectors";

export interface KnowledgeSearch {
  readonly organization: string;
  readonly query: string;
  readonly limit: number;
  readonly signal: AbortSignal;
  /** For comparisons of the modes; the default is hybrid. */
  readonly mode?: SearchMode;
}

interface Relevance {
  /** From 0 to 1, as the operation declares it. Compares the results of one search only. */
  readonly score: number;
  /**
   * From 0 to 1: the share of the query's words that the result has. Rare words count more; 0 if the search
   * had no words.
   */
  readonly coverage: number;
  /**
   * From 0 to 1: the cosine of the vectors. Which value means near depends on the model. Null if the vectors
   * were not compared.
   */
  readonly similarity: number | null;
  /**
   * Whether the result is about the query: by its words, or by its meaning if the search compared meanings.
   */
  readonly isRelevant: boolean;
}

export interface FoundPair extends Relevance {
  readonly type: "qa_pair";
  readonly qa_pair_id: string;
  readonly question: string;
  readonly answer: string;
  /** Whether the pair's question matches the query. */
  readonly isDirect: boolean;
}

export interface FoundChunk extends Relevance {
  readonly type: "chunk";
  readonly document_id: string;
  readonly document_name: string;
  readonly heading: string | null;
  readonly page: number | null;
  readonly chunk: number;
  readonly content: string;
}

export type KnowledgeResult = FoundPair | FoundChunk;

/** A word of the query that is no stop word. */
export interface QueryWord {
  readonly word: string;
  /** The fewer passages and QA pairs have the word, the larger its weight. The largest if none has it. */
  readonly weight: number;
}

export interface KnowledgeResults {
  readonly results: readonly KnowledgeResult[];
  readonly terms: readonly QueryWord[];
  /** False if the model did not answer, so that the results were found only by words. */
  readonly hasMeaning: boolean;
}

/** How many results of each ranking are fused. */
const depth = 60;

/**
 * The weight of each ranking. Equal words are the surer sign, so they count a little more. With these
 * weights, no kind of question in the development set has worse results than with the better of the two
 * rankings alone.
 */
const weights = { words: 0.6, meaning: 0.4 } as const;

/**
 * From this share of common words on, a question matches. Two questions on the same subject share half of
 * their words; questions that share three quarters are the same in other words, or with one more detail.
 */
const directCoverage = 0.75;
/** From this cosine on, a question matches: only rephrasings are so near, for all models that we know. */
const directSimilarity = 0.9;

/**
 * From this share of the query's words on, a result is about the query. In the development set, 92 % of the
 * questions share this much with a result, and 31 % of the questions of another set.
 */
const relevantCoverage = 0.25;

/** Only a QA pair whose question matches directly has a higher score. */
export const directScore = 0.9;

export async function searchKnowledge(world: World, search: KnowledgeSearch): Promise<KnowledgeResults> {
  const { organization, query, limit, signal, mode = "hybrid" } = search;
  const terms = await readTerms(world.database.queries, organization, query);
  const [words, nearest] = await Promise.all([
    mode === "vectors" ? undefined : findByWords(world, organization, terms),
    mode === "full_text" ? undefined : findNearest(world, organization, { query, limit: depth, signal }),
  ]);
  const ranked = rank(words, nearest);
  return {
    results: await readResults(world, organization, ranked.slice(0, limit)),
    terms: terms.map(({ plain, weight }) => ({ word: plain, weight })),
    hasMeaning: nearest !== undefined,
  };
}

/**
 * Fuses the rankings by words and by meaning, or takes one if the other is missing. Results with a score of 0
 * are dropped.
 */
function rank(words: readonly WordMatch[] | undefined, nearest: MeaningMatches | undefined): RankedResult[] {
  const byWords = words?.map(({ key: id, rank: score }) => ({ id, score }));
  const byMeaning = nearest?.matches.map(({ key: id, similarity: score }) => ({ id, score }));
  const fused = fuseRankings([
    ...(byWords ? [{ results: byWords, floor: "zero", weight: weights.words } as const] : []),
    ...(byMeaning ? [{ results: byMeaning, floor: "lowest", weight: weights.meaning } as const] : []),
  ]);
  const coverages = new Map(words?.map(({ key, coverage }) => [key, coverage]));
  const similarities = new Map(nearest?.matches.map(({ key, similarity }) => [key, similarity]));
  return fused
    .map(({ id: key, score }) => {
      const coverage = coverages.get(key) ?? 0;
      const similarity = similarities.get(key) ?? null;
      const strength = Math.max(coverage, similarity ?? 0);
      const isDirect =
        !readChunkKey(key) && (coverage >= directCoverage || (similarity ?? 0) >= directSimilarity);
      const isNear = similarity !== null && nearest !== undefined && similarity >= nearest.threshold;
      const isRelevant = isDirect || coverage >= relevantCoverage || isNear;
      const share = isDirect ? directScore + (1 - directScore) * strength : directScore * score;
      // The last result of a ranking has a share of 0, even if it is about the query.
      const least = isRelevant ? leastScore : 0;
      return { key, coverage, similarity, isDirect, isRelevant, score: Math.max(round(share), least) };
    })
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score);
}

interface RankedResult extends Relevance {
  readonly key: string;
  readonly isDirect: boolean;
}

/** The smallest score that rounding keeps. */
const leastScore = 0.0001;

function round(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}

/** Ranks QA pairs and chunks together. */
async function findByWords(
  { database: { queries } }: World,
  organization: string,
  terms: readonly Term[],
): Promise<WordMatch[]> {
  if (terms.length === 0) {
    return [];
  }
  const [pairs, chunks] = await Promise.all([
    findPairs(queries, organization, { terms, limit: depth }),
    findChunks(queries, organization, { terms, limit: depth }),
  ]);
  return [...pairs, ...chunks].sort((one, other) => other.rank - one.rank).slice(0, depth);
}

const pairColumns = columnsOf("knowledge_qa_pairs", "id", "question", "answer");

type PairRow = RowOf<typeof pairColumns>;

const chunkColumns = {
  ...columnsOf("knowledge_chunks", "document_id", "position", "title", "page", "content"),
  document_name: columnOf("knowledge_documents", "name"),
};

type ChunkRow = RowOf<typeof chunkColumns>;

/** Drops results that were deleted or replaced meanwhile. */
async function readResults(
  { database: { queries } }: World,
  organization: string,
  ranked: readonly RankedResult[],
): Promise<KnowledgeResult[]> {
  const places = ranked.flatMap(({ key }) => readChunkKey(key) ?? []);
  const [pairs, chunks] = await Promise.all([
    rowsOf(pairColumns)`
      select id, question, answer from knowledge_qa_pairs
      where organization_id = ${organization} and id = any(${ranked.map(({ key }) => key)}::text[])
    `.execute(queries),
    rowsOf(chunkColumns)`
      select chunk.document_id, document.name as document_name, chunk.position, title, page, chunk.content
      from ${recordset("place", columnsOf("knowledge_chunks", "document_id", "position"), places)}
      join knowledge_documents as document on document.organization_id = ${organization}
        and document.id = place.document_id
      join knowledge_chunks as chunk on chunk.organization_id = ${organization}
        and chunk.document_id = place.document_id and chunk.position = place.position
        and chunk.generation = document.generation
    `.execute(queries),
  ]);
  return ranked.flatMap(({ key, isDirect, ...relevance }): KnowledgeResult[] => {
    const place = readChunkKey(key);
    if (!place) {
      const pair = pairs.rows.find(({ id }) => id === key);
      return pair ? [toPairResult(pair, { ...relevance, isDirect })] : [];
    }
    const chunk = chunks.rows.find(
      ({ document_id, position }) => document_id === place.document_id && position === place.position,
    );
    return chunk ? [toChunkResult(chunk, relevance)] : [];
  });
}

function toPairResult(
  { id, question, answer }: PairRow,
  relevance: Relevance & Pick<FoundPair, "isDirect">,
): FoundPair {
  return { type: "qa_pair", ...relevance, qa_pair_id: id, question, answer };
}

function toChunkResult({ position, title, ...chunk }: ChunkRow, relevance: Relevance): FoundChunk {
  return { type: "chunk", ...relevance, ...chunk, heading: title || null, chunk: position };
}
