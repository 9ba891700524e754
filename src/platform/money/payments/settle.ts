/**
 * Applies what the processor reports about a payment, exactly once.
 *
 * Verification, the webhook and the reconciliation all end here, at the same time and in any order. The
 * order's row is locked first, so that only one of them credits the wallet, and the credit, the payment and
 * the order commit together.
 */
import { z } from "zod";
import { newId } from "../../../database/id.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { type JobType, newJob } from "../../../jobs/job.ts";
import type { ProcessorPayment } from "../../../ports/payments.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import { creditPayment, debitRefund } from "./credit.ts";
import { emitPaymentChanges } from "./events.ts";
import { lockOrder, nextCheckOf, type OrderKey, type SettlementContext } from "./orders.ts";
import { disposeOf, mergeState, type OrderRow, type PaymentRow } from "./states.ts";

const ReturnedPayment = z.object({
  organization_id: z.string(),
  order_id: z.string(),
  processor_payment_id: z.string(),
});

/** The job that returns a payment to its payer instead of crediting it. */
export const returnPaymentType = {
  name: "payment.return",
  payload: ReturnedPayment,
} as const satisfies JobType<z.infer<typeof ReturnedPayment>>;

/** Stores the payment, credits it if it is the first capture of its order, and debits its refunds. */
export async function settlePayment(
  world: World,
  key: OrderKey,
  payment: ProcessorPayment,
): Promise<PaymentRow> {
  return world.database.transaction(async (tx) => {
    const settling = { tx, world, now: world.now() };
    const order = await lockOrder(tx, key);
    const before = await findPayment(tx, order, payment);
    const stored = await storePayment(settling, order, { before, payment });
    const isDecided = stored.disposition !== null || !stored.is_captured;
    const decided = isDecided ? stored : await decide(settling, order, { stored, payment });
    const settled = decided.disposition === "credited" ? await debitRefunds(settling, decided) : decided;
    emitPaymentChanges(settling, before, settled);
    return settled;
  });
}

function findPayment(
  tx: Transaction,
  { organization_id }: OrderRow,
  { id }: ProcessorPayment,
): Promise<PaymentRow | undefined> {
  return ofOrganization(tx, organization_id)
    .selectFrom("payments")
    .selectAll()
    .where("processor_payment_id", "=", id)
    .executeTakeFirst();
}

async function storePayment(
  { tx, now }: SettlementContext,
  { organization_id, id: order_id, processor_order_id }: OrderRow,
  {
    before: stored,
    payment,
  }: { readonly before: PaymentRow | undefined; readonly payment: ProcessorPayment },
): Promise<PaymentRow> {
  const state = mergeState(stored, payment);
  if (stored) {
    const isChanged =
      state.status !== stored.status ||
      state.is_captured !== stored.is_captured ||
      state.amount_refunded !== stored.amount_refunded;
    return isChanged ? updatePayment({ tx, now }, stored, state) : stored;
  }
  return tx
    .insertInto("payments")
    .values({
      organization_id,
      id: newId("pmt", payment.created_at),
      order_id,
      processor_order_id: processor_order_id ?? "",
      processor_payment_id: payment.id,
      amount: payment.amount,
      currency: payment.currency,
      ...state,
      disposition: null,
      created_at: payment.created_at.toISOString(),
      updated_at: now.toISOString(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

function updatePayment(
  { tx, now }: Pick<SettlementContext, "tx" | "now">,
  { organization_id, id }: PaymentRow,
  changes: Partial<
    Pick<PaymentRow, "status" | "is_captured" | "amount_refunded" | "amount_debited" | "disposition">
  >,
): Promise<PaymentRow> {
  return ofOrganization(tx, organization_id)
    .updateTable("payments")
    .set({ ...changes, updated_at: now.toISOString() })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Decides whether a newly captured payment is credited or returned. */
async function decide(
  settling: SettlementContext,
  order: OrderRow,
  { stored, payment }: { readonly stored: PaymentRow; readonly payment: ProcessorPayment },
): Promise<PaymentRow> {
  const { tx, world } = settling;
  const { organization_id } = order;
  const disposition = disposeOf(order, payment);
  const decided = await updatePayment(settling, stored, { disposition });
  if (disposition === "credited") {
    await creditPayment(settling, decided);
    await markPaid(settling, order, decided);
  }
  if (disposition === "surplus") {
    const returned = { organization_id, order_id: order.id, processor_payment_id: payment.id };
    await tx.enqueue([newJob(returnPaymentType, returned)]);
  }
  if (disposition === "mismatched") {
    const facts = { organization_id, order: order.id, payment: payment.id };
    world.log.error(facts, "A payment of another amount or currency than its order was not credited");
  }
  return decided;
}

async function markPaid({ tx, now }: SettlementContext, order: OrderRow, { id }: PaymentRow): Promise<void> {
  const paid_at = now.toISOString();
  await ofOrganization(tx, order.organization_id)
    .updateTable("payment_orders")
    .set({
      status: "paid",
      paid_by: id,
      paid_at,
      updated_at: paid_at,
      next_check_at: nextCheckOf({ ...order, paid_at }, now),
    })
    .where("id", "=", order.id)
    .execute();
}

async function debitRefunds(settling: SettlementContext, payment: PaymentRow): Promise<PaymentRow> {
  const { amount_refunded: to, amount_debited: from } = payment;
  if (to === from) {
    return payment;
  }
  await debitRefund(settling, payment, { from, to });
  return updatePayment(settling, payment, { amount_debited: to });
}
