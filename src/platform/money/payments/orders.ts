/** Reads and locks payment orders, and computes when the payments of an order are read again. */
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import type { OrderRow } from "./states.ts";

/** What code needs to change an order and its payments. */
export interface SettlementContext {
  readonly tx: Transaction;
  readonly world: World;
  readonly now: Date;
}

export interface OrderKey {
  readonly organization_id: string;
  readonly id: string;
}

/** Finds the order with this id at the processor in use. */
export function findOrder(
  db: Queries,
  { payments }: Pick<World, "payments">,
  { organization, order_id }: { readonly organization: string; readonly order_id: string },
): Promise<OrderRow | undefined> {
  return ofOrganization(db, organization)
    .selectFrom("payment_orders")
    .selectAll()
    .where("processor_order_id", "=", order_id)
    .where("processor", "=", payments.name)
    .executeTakeFirst();
}

export function readOrder(db: Queries, { organization_id, id }: OrderKey): Promise<OrderRow> {
  return selectOrder(db, { organization_id, id }).executeTakeFirstOrThrow();
}

/** Locks an order. All code that changes the order or its payments takes this lock first. */
export function lockOrder(tx: Transaction, key: OrderKey): Promise<OrderRow> {
  return selectOrder(tx, key).forUpdate().executeTakeFirstOrThrow();
}

function selectOrder(db: Queries, { organization_id, id }: OrderKey) {
  return ofOrganization(db, organization_id).selectFrom("payment_orders").selectAll().where("id", "=", id);
}

const [minute, hour, day] = [60_000, 3_600_000, 24 * 3_600_000];

/**
 * Unpaid orders are read for a week, because a payment may be authorized days after its order, and paid
 * orders for half a year, in which a refund is possible. The older the order, the longer the wait.
 */
const checks = {
  unpaid: { min: 2 * minute, max: 6 * hour, until: 7 * day },
  paid: { min: hour, max: 7 * day, until: 180 * day },
} as const;

/** When the payments of an order are read again; null: never. */
export function nextCheckOf(
  { paid_at, created_at }: Pick<OrderRow, "paid_at" | "created_at">,
  now: Date,
): string | null {
  const { min, max, until } = paid_at === null ? checks.unpaid : checks.paid;
  const age = now.getTime() - Date.parse(paid_at ?? created_at);
  return age > until ? null : new Date(now.getTime() + Math.min(max, Math.max(min, age / 2))).toISOString();
}
