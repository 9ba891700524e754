/** QA pairs: questions with the organization's answers. */
import type { Selectable } from "kysely";
import { fail } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { containsText, ofOrganization, readPage } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { requireBelowQuota } from "../../account/organization/index.ts";
import { freshId, type ReadContext, type WriteContext } from "../../foundation/kernel/index.ts";
import { recordChange } from "./base.ts";
import { requestEmbeddings } from "./embed.ts";

interface PairFields {
  readonly question?: string | undefined;
  readonly answer?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

const shown = ["id", "question", "answer", "tags", "created_at", "updated_at"] as const;

export async function addPair(
  { question, answer, tags }: Required<PairFields> & { readonly question: string; readonly answer: string },
  context: WriteContext,
) {
  const { tx, organization, now } = context;
  await requireBelowQuota(context, "knowledge_qa_pairs", tx.selectFrom("knowledge_qa_pairs"));
  const row = await tx
    .insertInto("knowledge_qa_pairs")
    .values({
      organization_id: organization,
      id: freshId({ now }, "qap"),
      question,
      answer,
      tags: JSON.stringify(tags),
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .returning(shown)
    .executeTakeFirstOrThrow();
  await recordChange(tx, organization, null);
  await requestEmbeddings(context);
  return { data: serializePair(row) };
}

export async function listPairs(
  { search, ...paging }: { readonly search?: string | undefined; page: number; per_page: number },
  { db, organization }: ReadContext,
) {
  const query = ofOrganization(db, organization)
    .selectFrom("knowledge_qa_pairs")
    .select(shown)
    .$if(search !== undefined, (rows) => rows.where(containsText(search ?? "", "question", "answer")))
    .orderBy("id", "desc");
  const { rows, meta } = await readPage(query, paging);
  return { data: rows.map(serializePair), meta };
}

/** @throws Failure `qa_pair_not_found`. */
export async function getPair(db: Queries, organization: string, id: string) {
  const row = await ofOrganization(db, organization)
    .selectFrom("knowledge_qa_pairs")
    .select(shown)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) {
    throw fail("qa_pair_not_found");
  }
  return serializePair(row);
}

/** Until the vector of a new question is computed, only its words are found. */
export async function updatePair(
  { id, question, answer, tags }: PairFields & { readonly id: string },
  context: WriteContext,
) {
  const { tx, organization, now } = context;
  const before = await getPair(tx, organization, id);
  const isNewQuestion = question !== undefined && question !== before.question;
  const row = await ofOrganization(tx, organization)
    .updateTable("knowledge_qa_pairs")
    .set({
      question,
      answer,
      tags: tags && JSON.stringify(tags),
      updated_at: now.toISOString(),
      ...(isNewQuestion ? { embedding: null, model: null } : {}),
    })
    .where("id", "=", id)
    .returning(shown)
    .executeTakeFirst();
  if (!row) {
    throw fail("qa_pair_not_found");
  }
  await recordChange(tx, organization, isNewQuestion ? null : undefined);
  if (isNewQuestion) {
    await requestEmbeddings(context);
  }
  return { data: serializePair(row) };
}

export async function deletePair(id: string, { tx, organization }: WriteContext) {
  const { numDeletedRows } = await ofOrganization(tx, organization)
    .deleteFrom("knowledge_qa_pairs")
    .where("id", "=", id)
    .executeTakeFirst();
  if (!numDeletedRows) {
    throw fail("qa_pair_not_found");
  }
  await recordChange(tx, organization, undefined);
  return { data: { deleted: true as const } };
}

function serializePair<Row extends Pick<Selectable<Tables["knowledge_qa_pairs"]>, "tags">>(row: Row) {
  return { ...row, tags: [...row.tags] };
}
