/** The queries of the simulated processor's tables. */
import { type Insertable, type Selectable, sql } from "kysely";
import type { DatabaseTransaction, Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { NewOrder, ProcessorPayment } from "../../../ports/payments.ts";

type SimulatedOrder = Selectable<Tables["simulator_payment_orders"]>;
type StoredPayment = Selectable<Tables["simulator_payments"]>;

/** Returns the id of the order with this receipt. Inserts the order if it does not exist. */
export async function insertOrder(
  queries: Queries,
  { organization_id, receipt, amount, currency }: NewOrder,
  { id, now }: { readonly id: string; readonly now: Date },
): Promise<string> {
  const order = { organization_id, id, receipt, amount, currency, created_at: now.toISOString() };
  const inserted = await queries
    .insertInto("simulator_payment_orders")
    .values(order)
    // Updating a column to its own value makes the statement return the existing row.
    .onConflict((conflict) =>
      conflict.columns(["organization_id", "receipt"]).doUpdateSet({
        receipt: sql`excluded.receipt`,
      }),
    )
    .returning("id")
    .executeTakeFirstOrThrow();
  return inserted.id;
}

/** Locks the order, so that its payments are changed one after the other. */
export function lockSimulatedOrder(
  tx: DatabaseTransaction,
  organization_id: string,
  id: string,
): Promise<SimulatedOrder | undefined> {
  return ofOrganization(tx, organization_id)
    .selectFrom("simulator_payment_orders")
    .selectAll()
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
}

export async function insertPayment(
  tx: DatabaseTransaction,
  payment: Insertable<Tables["simulator_payments"]>,
): Promise<void> {
  await tx.insertInto("simulator_payments").values(payment).execute();
}

/**
 * Changes a payment if its status is one of `from`. Returns false if it is not, or if there is no such
 * payment.
 */
export async function updatePayment(
  queries: Queries,
  { organization_id, id }: Pick<StoredPayment, "organization_id" | "id">,
  { status, amount_refunded, from }: PaymentChange,
): Promise<boolean> {
  const { numUpdatedRows } = await ofOrganization(queries, organization_id)
    .updateTable("simulator_payments")
    .set({ status, amount_refunded })
    .where("id", "=", id)
    .where("status", "in", from)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

interface PaymentChange {
  readonly status: StoredPayment["status"];
  readonly amount_refunded?: number;
  readonly from: readonly StoredPayment["status"][];
}

/** The payments of an order or one payment, oldest first. */
export async function readPayments(
  queries: Queries,
  { organization_id, ...selection }: PaymentSelection,
): Promise<ProcessorPayment[]> {
  const rows = await queries
    .selectFrom("simulator_payments as payment")
    .innerJoin("simulator_payment_orders as order", (join) =>
      join
        .onRef("order.organization_id", "=", "payment.organization_id")
        .onRef("order.id", "=", "payment.order_id"),
    )
    .selectAll("payment")
    .select(["order.amount", "order.currency"])
    .where("payment.organization_id", "=", organization_id)
    .$if("order_id" in selection, (query) => query.where("payment.order_id", "=", selection.order_id ?? ""))
    .$if("payment_id" in selection, (query) => query.where("payment.id", "=", selection.payment_id ?? ""))
    .orderBy("payment.id")
    .execute();
  return rows.map(toProcessorPayment);
}

type PaymentSelection = { readonly organization_id: string } & (
  | { readonly order_id: string; readonly payment_id?: undefined }
  | { readonly payment_id: string; readonly order_id?: undefined }
);

function toProcessorPayment({
  id,
  order_id,
  status,
  amount_refunded,
  created_at,
  amount,
  currency,
}: StoredPayment & Pick<SimulatedOrder, "amount" | "currency">): ProcessorPayment {
  const is_captured = status === "captured" || status === "refunded";
  return {
    id,
    order_id,
    amount,
    currency,
    status,
    is_captured,
    amount_refunded,
    created_at: new Date(created_at),
  };
}
