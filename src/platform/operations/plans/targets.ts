/** The rows of the targets of plans. */
import { type Selectable, sql } from "kysely";
import type { Queries } from "../../../database/database.ts";
import {
  columnsOf,
  containsText,
  ofOrganization,
  readPage,
  recordset,
} from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";

export type TargetRow = Selectable<Tables["plan_targets"]>;

type Found = ReturnType<World["plannedCalls"]["find"]>;
export type CallEffect = Awaited<ReturnType<Awaited<ReturnType<Found["prepare"]>>["plan"]>>;
export type CallTarget = CallEffect["targets"][number];

interface PlanKey {
  readonly organization_id: string;
  readonly id: string;
}

/** Targets that are read at once. */
const batchSize = 1_000;

const targetColumns = columnsOf(
  "plan_targets",
  "position",
  "contact_id",
  "to",
  "name",
  "text",
  "reason",
  "unusual",
  "frozen",
);

type NewTarget = CallTarget & Pick<TargetRow, "position" | "unusual">;

/**
 * An erasure of their contacts waits until the commit, and then finds the rows. A target whose contact has
 * been erased is left out.
 */
export async function insertTargets(
  tx: Transaction,
  { organization_id, id }: PlanKey,
  targets: readonly NewTarget[],
): Promise<void> {
  const contacts = targets.flatMap(({ contact_id }) => contact_id ?? []);
  await sql`
    with present as materialized (
      select id from contacts
      where organization_id = ${organization_id} and id = any(${contacts}::text[]) and erased_at is null
      order by id for key share
    )
    insert into plan_targets (organization_id, plan_id, position, contact_id, "to", name, text, reason, unusual, frozen)
    select ${organization_id}, ${id}, position, contact_id, "to", name, text, reason, unusual, frozen
    from ${recordset("target", targetColumns, targets)}
    where contact_id is null or contact_id in (select id from present)
  `.execute(tx);
}

/** The targets from `position` on. */
export function readTargets(
  db: Queries,
  { organization_id, id }: PlanKey,
  { position, limit }: { readonly position: number; readonly limit: number },
): Promise<TargetRow[]> {
  return ofOrganization(db, organization_id)
    .selectFrom("plan_targets")
    .selectAll()
    .where("plan_id", "=", id)
    .where("position", ">=", position)
    .orderBy("position")
    .limit(limit)
    .execute();
}

interface PageRequest {
  /** A part of a name, number or text; "" for any. */
  readonly words: string;
  readonly page: number;
  readonly per_page: number;
}

/** A page of the targets, first those with unusual values. */
export function readTargetPage(
  db: Queries,
  { organization_id, id }: PlanKey,
  { words, ...paging }: PageRequest,
) {
  const query = ofOrganization(db, organization_id)
    .selectFrom("plan_targets")
    .selectAll()
    .where("plan_id", "=", id)
    .$if(words !== "", (rows) => rows.where(containsText(words, "name", "to", "text")))
    .orderBy("unusual", "desc")
    .orderBy("position");
  return readPage(query, paging);
}

/** All targets, in batches. */
export async function* streamTargets(db: Queries, plan: PlanKey): AsyncGenerator<readonly TargetRow[]> {
  let position: number | undefined = 0;
  while (position !== undefined) {
    const batch: readonly TargetRow[] = await readTargets(db, plan, { position, limit: batchSize });
    const last = batch.length === batchSize ? batch.at(-1) : undefined;
    yield batch;
    position = last && last.position + 1;
  }
}

/** Stores how unusual targets are; by default they are not. */
export async function markUnusual(
  tx: Transaction,
  { organization_id, id }: PlanKey,
  targets: readonly Pick<TargetRow, "position" | "unusual">[],
): Promise<void> {
  if (targets.length === 0) {
    return;
  }
  await sql`
    update plan_targets set unusual = marked.unusual
    from ${recordset("marked", columnsOf("plan_targets", "position", "unusual"), targets)}
    where organization_id = ${organization_id} and plan_id = ${id} and plan_targets.position = marked.position
  `.execute(tx);
}

export async function deleteTargets(tx: Transaction, { organization_id, id }: PlanKey): Promise<void> {
  await ofOrganization(tx, organization_id).deleteFrom("plan_targets").where("plan_id", "=", id).execute();
}
