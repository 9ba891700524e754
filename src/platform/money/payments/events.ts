/** The events of payments. */
import { fromMinor } from "./amounts.ts";
import type { SettlementContext } from "./orders.ts";
import type { PaymentRow } from "./states.ts";

/** A response of the processor may skip states, so one response may cause several events. */
export function emitPaymentChanges(
  { tx, world }: SettlementContext,
  before: PaymentRow | undefined,
  after: PaymentRow,
): void {
  const { organization_id, id: payment_id, currency, status } = after;
  const event = { organization_id, order: payment_id };
  const data = {
    payment_id,
    processor_order_id: after.processor_order_id,
    processor_payment_id: after.processor_payment_id,
    amount: fromMinor(after.amount, currency),
    currency,
    status,
    amount_refunded: fromMinor(after.amount_refunded, currency),
    // Only payments of the processor in use are settled.
    simulated: world.payments.isSimulated,
  };
  if (status === "failed" && before?.status !== "failed") {
    tx.emit({ ...event, type: "payment.failed", data });
  }
  if (after.is_captured && !before?.is_captured) {
    const credited = after.disposition === "credited";
    tx.emit({ ...event, type: "payment.captured", data: { ...data, credited } });
  }
  if (after.amount_refunded > (before?.amount_refunded ?? 0)) {
    tx.emit({ ...event, type: "payment.refunded", data });
  }
}
