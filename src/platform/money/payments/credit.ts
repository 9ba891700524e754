/** Moves the money of payments in the ledger: the only place where a payment changes a wallet. */
import { lockWallet, recordTransfers, walletCredited } from "../wallet/index.ts";
import { minorToMicros } from "./amounts.ts";
import type { SettlementContext } from "./orders.ts";
import type { PaymentRow } from "./states.ts";

/** The reference names the payment, so that it counts once. */
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

/** Takes refunds out of the wallet, which may fall below zero: from one total of a payment's refunds to the next. */
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

/** An amount of a payment, in the smallest unit of its currency, as a transfer has it. */
function moved({ world }: SettlementContext, { organization_id, currency }: PaymentRow, minor: number) {
  const amount = minorToMicros(minor, currency);
  // Only payments of the processor in use are settled.
  return { organization_id, currency, amount, message_id: null, simulated: world.payments.isSimulated };
}
