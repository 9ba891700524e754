/** Search by words: what full text finds, the best first. */
import { sql } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { chunkKey, pairKey } from "./keys.ts";
import { rank, type Term, tenant, termTables } from "./terms.ts";

export interface WordMatch {
  /** As in the set of vectors. */
  readonly key: string;
  readonly rank: number;
  /**
   * From 0 to 1: the share of the query's words that it has, rare words counting more. Of a QA pair: that its question
   * has, or the share of the question's words that the query has, whichever is more.
   */
  readonly coverage: number;
}

/** Chunks of the generations that are found. */
export async function findChunks(
  db: Queries,
  organization: string,
  { terms, limit }: { readonly terms: readonly Term[]; readonly limit: number },
): Promise<WordMatch[]> {
  const { rows } = await sql<{ document_id: string; position: number; rank: number; coverage: number }>`
    with ${termTables("knowledge_chunks", organization, terms)}
    select chunk.document_id, chunk.position,
      sum(term.weight * ${rank("chunk.words", "term.query")}) as rank,
      sum(term.weight) / max(weights.weight) as coverage
    from term
    cross join weights
    join knowledge_chunks as chunk on chunk.organization_id = ${organization}
      and chunk.words @@ (${tenant(organization)} && term.query)
    join knowledge_documents as document on document.organization_id = chunk.organization_id
      and document.id = chunk.document_id and document.generation = chunk.generation
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
  { terms, limit }: { readonly terms: readonly Term[]; readonly limit: number },
): Promise<WordMatch[]> {
  // A word of the question has the weight A.
  const inQuestion = sql`ts_filter(pair.words, '{a}') @@ term.query`;
  const { rows } = await sql<{ id: string; rank: number; coverage: number }>`
    with ${termTables("knowledge_qa_pairs", organization, terms)}
    select pair.id,
      sum(term.weight * ${rank("pair.words", "term.query")}) as rank,
      greatest(
        coalesce(sum(term.weight) filter (where ${inQuestion}), 0) / max(weights.weight),
        least(1, count(*) filter (where ${inQuestion})::float8
          / greatest(1, length(to_tsvector('english', max(pair.question)))))
      ) as coverage
    from term
    cross join weights
    join knowledge_qa_pairs as pair on pair.organization_id = ${organization}
      and pair.words @@ (${tenant(organization)} && term.query)
    group by pair.id
    order by rank desc, pair.id
    limit ${limit}
  `.execute(db);
  return rows.map(({ id, ...match }) => ({ key: pairKey(id), ...match }));
}
