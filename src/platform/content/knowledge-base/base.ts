/** What all parts of an organization's knowledge base share: its version, and its numbers. */
import { sql } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization, rowsOf } from "../../../database/query/index.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";

/**
 * Raises the version in the transaction of each change of what a search finds. `model` is the one of the vectors that
 * the change wrote, or null if it wrote texts without one; undefined if it wrote no texts.
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
      -- Vectors of two models: the job that replaces vectors has to look.
      model = case when ${keeps}::boolean or knowledge_bases.model = ${written}::text then knowledge_bases.model end
  `.execute(tx);
}

/** 0 for an organization that has none yet. */
export async function readVersion(db: Queries, organization: string): Promise<number> {
  const row = await ofOrganization(db, organization)
    .selectFrom("knowledge_bases")
    .select("version")
    .executeTakeFirst();
  return row?.version ?? 0;
}

/**
 * Sorts the latest words into the index. They wait in a list that every search reads from its beginning, until a vacuum or
 * until it has 4 MB: for 10,000 passages a search took half a second. An index that sorted each row at once would make an
 * ingestion eight times as slow.
 */
export async function sortWords(
  db: Queries,
  table: "knowledge_chunks" | "knowledge_qa_pairs",
): Promise<void> {
  await sql`select gin_clean_pending_list(${`${table}_words`}::regclass)`.execute(db);
}

export interface KnowledgeCount {
  /** Documents that are found. */
  readonly doc_count: number;
  readonly qa_count: number;
}

/** The number of documents that are ready, and of QA pairs. */
export async function countKnowledge(db: Queries, organization: string): Promise<KnowledgeCount> {
  const { rows } = await rowsOf({ doc_count: "bigint", qa_count: "bigint" })`
    select
      (select count(*) from knowledge_documents
        where organization_id = ${organization} and status = 'ready') as doc_count,
      (select count(*) from knowledge_qa_pairs where organization_id = ${organization}) as qa_count
  `.execute(db);
  return rows[0] ?? { doc_count: 0, qa_count: 0 };
}
