/** The version and the counts of an organization's knowledge base, which all its parts use. */
import { sql } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, rowsOf } from "../../../database/query/index.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";

/**
 * Raises the version in the transaction of each change that affects search results. `model` is the model of
 * the vectors that the change wrote; null if it wrote texts without vectors; undefined if it wrote no texts.
 */
export async function recordChange(
  tx: Transaction,
  organization: string,
  model: string | null | undefined,
): Promise<void> {
  const written = model ?? null;
  const keeps = model === undefined;
  await sql`
    insert into knowledge_bases (organization_id, version, model) values (${organization}, 1, ${written})
    on conflict (organization_id) do update set
      version = knowledge_bases.version + 1,
      -- The base has vectors of two models, so the job that replaces vectors must check it.
      model = case when ${keeps}::boolean or knowledge_bases.model = ${written}::text then knowledge_bases.model end
  `.execute(tx);
}

/** Returns 0 if the organization has no version yet. */
export async function readVersion(db: Queries, organization: string): Promise<number> {
  const row = await ofOrganization(db, organization)
    .selectFrom("knowledge_bases")
    .select("version")
    .executeTakeFirst();
  return row?.version ?? 0;
}

/**
 * Moves the latest words from the pending list of the index into the index itself. Every search reads the
 * whole list, which grows until a vacuum or up to 4 MB: for 10,000 passages a search took half a second. An
 * index without such a list would make an ingestion eight times as slow.
 */
export async function sortWords(
  db: Queries,
  table: "knowledge_chunks" | "knowledge_qa_pairs",
): Promise<void> {
  await sql`select gin_clean_pending_list(${`${table}_words`}::regclass)`.execute(db);
}

export interface KnowledgeCount {
  /** Documents that searches find. */
  readonly doc_count: number;
  readonly qa_count: number;
}

/** Counts the documents that are ready, and the QA pairs. */
export async function countKnowledge(db: Queries, organization: string): Promise<KnowledgeCount> {
  const { rows } = await rowsOf({ doc_count: "bigint", qa_count: "bigint" })`
    select
      (select count(*) from knowledge_documents
        where organization_id = ${organization} and status = 'ready') as doc_count,
      (select count(*) from knowledge_qa_pairs where organization_id = ${organization}) as qa_count
  `.execute(db);
  return rows[0] ?? { doc_count: 0, qa_count: 0 };
}
