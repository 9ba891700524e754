/** Search by words with full text, best results first. */
import { sql } from "kysely";
import type { Queries } from "../../../../database/database.ts";
import { columnsOf, rowsOf } from "../../../../database/query/index.ts";
import { chunkKey, pairKey } from "./keys.ts";
import { candidateTables, names, rank, type Term } from "./terms.ts";

export interface WordMatch {
  /** The same keys as in the set of vectors. */
  readonly key: string;
  readonly rank: number;
  /**
   * From 0 to 1: the share of the query's words that the result has; rare words count more. For a QA pair:
   * the share that its question has, or the share of the question's words that the query has, whichever is
   * larger.
   */
  readonly coverage: number;
}

const weights = { rank: "double precision", coverage: "double precision" } as const;

interface WordSearch {
  readonly terms: readonly Term[];
  readonly limit: number;
}

/** Chunks of current generations. The name of a document is one of the headings of its chunks. */
export async function findChunks(
  db: Queries,
  organization: string,
  { terms, limit }: WordSearch,
): Promise<WordMatch[]> {
  const key = ["document_id", "generation", "position"];
  const { rows } = await rowsOf({ ...columnsOf("knowledge_chunks", "document_id", "position"), ...weights })`
    with ${candidateTables(sql`knowledge_chunks`, organization, { terms, key })}, ${names(organization)}
    select chunk.document_id, chunk.position,
      sum(term.weight * case when names.words @@ term.query then 1 else ${rank("chunk.words", "term.query")} end) as rank,
      sum(term.weight) / ${weightOf(terms)} as coverage
    from candidate
    join knowledge_documents as document on document.organization_id = ${organization}
      and document.id = candidate.document_id and document.generation = candidate.generation
    join names on names.id = document.id
    cross join lateral (
      -- Concatenated with an empty vector, the words are read from their storage outside the row once, and
      -- not for each term.
      select document_id, position, words || ''::tsvector as words from knowledge_chunks
      where organization_id = ${organization} and document_id = candidate.document_id
        and generation = candidate.generation and position = candidate.position
      offset 0
    ) as chunk
    join term on chunk.words @@ term.query or names.words @@ term.query
    group by chunk.document_id, chunk.position
    order by rank desc, chunk.document_id, chunk.position
    limit ${limit}
  `.execute(db);
  return rows.map(({ document_id, position, ...match }) => ({
    key: chunkKey(document_id, position),
    ...match,
  }));
}

export async function findPairs(
  db: Queries,
  organization: string,
  { terms, limit }: WordSearch,
): Promise<WordMatch[]> {
  // Words of the question have the label A.
  const inQuestion = sql`ts_filter(pair.words, '{a}') @@ term.query`;
  const { rows } = await rowsOf({ ...columnsOf("knowledge_qa_pairs", "id"), ...weights })`
    with ${candidateTables(sql`knowledge_qa_pairs`, organization, { terms, key: ["id"] })}
    select pair.id,
      sum(term.weight * ${rank("pair.words", "term.query")}) as rank,
      greatest(
        coalesce(sum(term.weight) filter (where ${inQuestion}), 0) / ${weightOf(terms)},
        least(1, count(*) filter (where ${inQuestion})::float8
          / greatest(1, length(to_tsvector('english', max(pair.question)))))
      ) as coverage
    from candidate
    join knowledge_qa_pairs as pair on pair.organization_id = ${organization} and pair.id = candidate.id
    join term on pair.words @@ term.query
    group by pair.id
    order by rank desc, pair.id
    limit ${limit}
  `.execute(db);
  return rows.map(({ id, ...match }) => ({ key: pairKey(id), ...match }));
}

function weightOf(terms: readonly Term[]): number {
  return terms.reduce((sum, { weight }) => sum + weight, 0);
}
