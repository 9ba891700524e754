/** Moves the money of payments in the ledger: the only place where a payment changes a wallet. */
import { lockWallet, recordTransfers, walletCredited } from "../wallet/index.ts";
import { minorToMicros } from "./amounts.ts";
import type { SettlementContext } from "./orders.ts";
import type { PaymentRow } from "./states.ts";

/** The reference names the payment, so that the payment counts once. */
export async function creditPayment(settling: SettlementContext, payment: PaymentRow): Promise<void> {
  const { tx, world, now } = settling;
  const { organization_id, processor_payment_id: id, amount } = payment;
  const accounts = { type: "top_up", from_account: "top_ups", to_account: "wallet" } as const;
  const transfer = { ...accounts, reference: `payment:${id}`, ...moved(settling, payment, amount) };
  await lockWallet(tx, organization_id);
  await recordTransfers(tx, [transfer], now);
  if (!transfer.simulated) {
    await walletCredited.run(world, tx, world, { organization: organization_id, now });
  }
}

/** Debits the difference between two totals of a payment's refunds. The wallet may fall below zero. */
export async function debitRefund(
  settling: SettlementContext,
  payment: PaymentRow,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const accounts = { type: "refund", from_account: "wallet", to_account: "top_ups" } as const;
  const reference = `payment:${payment.processor_payment_id}:refunded:${to}`;
  const transfer = { ...accounts, reference, ...moved(settling, payment, to - from) };
  await recordTransfers(settling.tx, [transfer], settling.now);
}

/**
 * The part of a transfer that says which amount of a payment it moves; `minor` is in the smallest unit of its
 * currency.
 */
function moved({ world }: SettlementContext, { organization_id, currency }: PaymentRow, minor: number) {
  const amount = minorToMicros(minor, currency);
  // Only payments of the processor in use are settled.
  return { organization_id, currency, amount, message_id: null, simulated: world.payments.isSimulated };
}
