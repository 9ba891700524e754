/**
 * The state of a payment: created → failed → authorized → captured → refunded.
 *
 * Steps may be skipped, and a failed payment may be authorized late, but no state goes back: a response of
 * the processor may be older than the stored state. Refunds add up and never shrink. The first capture of an
 * order is credited; further captures are returned to the payer.
 */
import type { Selectable } from "kysely";
import type { PaymentStatus } from "../../../../tools/payments.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { ProcessorPayment } from "../../../ports/payments.ts";

export type PaymentRow = Selectable<Tables["payments"]>;
export type OrderRow = Selectable<Tables["payment_orders"]>;

type PaymentState = Pick<PaymentRow, "status" | "is_captured" | "amount_refunded">;

const ranks: Readonly<Record<PaymentStatus, number>> = {
  created: 0,
  failed: 1,
  authorized: 2,
  captured: 3,
  refunded: 4,
};

/** The state after a response of the processor. */
export function mergeState(stored: PaymentState | undefined, read: ProcessorPayment): PaymentState {
  const { status, is_captured, amount_refunded } = stored ?? read;
  return {
    status: ranks[read.status] > ranks[status] ? read.status : status,
    is_captured: is_captured || read.is_captured,
    amount_refunded: Math.max(amount_refunded, Math.min(read.amount_refunded, read.amount)),
  };
}

/** Whether a captured payment is credited or returned. */
export function disposeOf(
  order: OrderRow,
  payment: Pick<ProcessorPayment, "id" | "order_id" | "amount" | "currency">,
): NonNullable<PaymentRow["disposition"]> {
  if (!fits(order, payment)) {
    return "mismatched";
  }
  return order.status === "paid" ? "surplus" : "credited";
}

/** Whether the payment is of this order, its amount and its currency. */
export function fits(
  { processor_order_id, amount, currency }: OrderRow,
  payment: Pick<ProcessorPayment, "order_id" | "amount" | "currency">,
): boolean {
  return (
    payment.order_id === processor_order_id && payment.amount === amount && payment.currency === currency
  );
}
