/**
 * Which receipts a message will have, when each is due, and what faults make of them.
 *
 * A step (sent, delivered, read, failed) happens on the phone's side at its own time, which is the
 * receipt's `occurred_at`. Faults touch only the telling: it is left out, done twice, or done late.
 */
import type { ChannelFailure, ReceiptType } from "../../../ports/channel.ts";
import { type Faults, strikes } from "./faults.ts";
import type { LedgerMessage, LedgerStatus, ReceiptJob } from "./store.ts";

/** How long swapped receipts are held back: long enough to read the message before its delivery is told. */
const heldMs = 1_000;
/** Between one receipt that is told out of turn and the next. */
const gapMs = 50;

/** The statuses from which each step leads on; from any other it changes nothing. */
export const stepsFrom: Readonly<Record<ReceiptType, readonly LedgerStatus[]>> = {
  sent: ["accepted"],
  delivered: ["accepted", "sent"],
  read: ["accepted", "sent", "delivered"],
  failed: ["accepted", "sent"],
};

interface Step {
  readonly type: ReceiptType;
  readonly at: Date;
  readonly failure: ChannelFailure | null;
}

/** What becomes of a message that was accepted: sent at once and delivered a little later, or failed. */
export function acceptReceipts(
  message: LedgerMessage,
  faults: Faults,
  failure: ChannelFailure | null,
): ReceiptJob[] {
  const accepted = new Date(message.created_at);
  const settled = later(accepted, faults.receipt_delay_ms);
  if (failure) {
    return tellStep(message, faults, { type: "failed", at: settled, failure }, settled);
  }
  const isSwapped = strikes(faults.swapped_receipts, message.token, "swapped");
  const toldAt = isSwapped
    ? { delivered: later(settled, heldMs), sent: later(settled, heldMs + gapMs) }
    : { delivered: settled, sent: accepted };
  return (
    [
      ...tellStep(message, faults, { type: "sent", at: accepted, failure: null }, toldAt.sent),
      ...tellStep(message, faults, { type: "delivered", at: settled, failure: null }, toldAt.delivered),
    ]
      .sort((one, other) => one.runAt.getTime() - other.runAt.getTime())
      // One at a time: without a fault, receipts come in order.
      .map((job) => ({ ...job, key: message.id }))
  );
}

/** The phone's owner has seen a message. Without a key: it must not wait behind receipts that are held back. */
export function readReceipts(message: LedgerMessage, faults: Faults, at: Date): ReceiptJob[] {
  return tellStep(message, faults, { type: "read", at, failure: null }, at);
}

function tellStep(message: LedgerMessage, faults: Faults, step: Step, toldAt: Date): ReceiptJob[] {
  if (strikes(faults.lost_receipts, message.token, `lost ${step.type}`)) {
    return [receiptJob(message, step, step.at, false)];
  }
  const isHeld = toldAt > step.at;
  const isDoubled = strikes(faults.doubled_receipts, message.token, `doubled ${step.type}`);
  return [
    receiptJob(message, step, step.at, !isHeld),
    ...(isHeld ? [receiptJob(message, step, toldAt, true)] : []),
    ...(isDoubled ? [receiptJob(message, step, later(toldAt, gapMs), true)] : []),
  ];
}

function receiptJob(
  message: LedgerMessage,
  { type, at, failure }: Step,
  runAt: Date,
  isTold: boolean,
): ReceiptJob {
  const { organization_id, id, token } = message;
  return {
    name: "simulator.receipt",
    organization_id,
    runAt,
    payload: {
      organization_id,
      channel_message_id: id,
      token,
      type,
      occurred_at: at.toISOString(),
      failure,
      isTold,
    },
  };
}

function later(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms);
}
