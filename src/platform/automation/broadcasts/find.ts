/** Reads broadcasts, and shows them as the contract does. */
import type { Selectable, Updateable } from "kysely";
import type { ExclusionReason, ExecutionStatus, PausedReason } from "../../../../tools/broadcasts/index.ts";
import type { ReachedBudget } from "../../../../tools/budgets.ts";
import { fail } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";
import { emitState, statsOf } from "./events.ts";

export type BroadcastRow = Selectable<Tables["broadcasts"]>;
type Columns = Updateable<Tables["broadcasts"]>;

/** @throws Failure `broadcast_not_found`. */
export async function getBroadcast(
  db: Queries,
  organization: string,
  id: string,
  { forUpdate = false } = {},
): Promise<BroadcastRow> {
  const broadcast = await ofOrganization(db, organization)
    .selectFrom("broadcasts")
    .selectAll()
    .where("id", "=", id)
    .$if(forUpdate, (query) => query.forUpdate())
    .executeTakeFirst();
  if (!broadcast) {
    throw fail("broadcast_not_found");
  }
  return broadcast;
}

/**
 * Locks a broadcast until the commit. The broadcast must be in one of the states `allowed`.
 * @throws Failure `broadcast_not_found`, `broadcast_state`.
 */
export async function lockBroadcast(
  tx: Transaction,
  organization: string,
  { id, ...required }: RequiredState & { readonly id: string },
): Promise<BroadcastRow> {
  const broadcast = await getBroadcast(tx, organization, id, { forUpdate: true });
  requireState(broadcast, required);
  return broadcast;
}

interface RequiredState {
  readonly allowed: readonly ExecutionStatus[];
  /** What the caller does to the broadcast, for the error message. */
  readonly action: string;
}

/** @throws Failure `broadcast_state`. */
export function requireState({ execution_status }: BroadcastRow, { allowed, action }: RequiredState): void {
  if (!allowed.includes(execution_status)) {
    throw fail("broadcast_state", { current_state: execution_status, action, allowed: allowed.join(" or ") });
  }
}

/** Changes a locked broadcast, and reports a change of its state. */
export async function changeBroadcast(
  tx: Transaction,
  {
    organization_id,
    id,
    execution_status,
  }: Pick<BroadcastRow, "organization_id" | "id" | "execution_status">,
  { now, ...columns }: Columns & { readonly now: Date },
): Promise<BroadcastRow> {
  const changed = await ofOrganization(tx, organization_id)
    .updateTable("broadcasts")
    .set({ ...columns, updated_at: now.toISOString() })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (changed.execution_status !== execution_status) {
    emitState(tx, changed);
  }
  return changed;
}

export function serializeBroadcast(row: BroadcastRow) {
  return {
    ...row,
    // Only this module writes these columns.
    paused_reason: row.paused_reason as PausedReason | null,
    paused_budget:
      row.paused_reason === "budget_reached" ? (row.paused_budget as ReachedBudget | null) : null,
    excluded: row.excluded as Readonly<Partial<Record<ExclusionReason, number>>>,
    recipient_count: row.total,
    stats: statsOf(row),
  };
}

export function metricsOf({ total, sent, delivered, read, failed, execution_status }: BroadcastRow) {
  return { total, pending: total - sent - failed, sent, delivered, read, failed, execution_status };
}
