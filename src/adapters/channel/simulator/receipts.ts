/**
 * Schedules the receipts of a message and applies the faults to them.
 *
 * A step (sent, delivered, read, failed) happens on the phone at its own time, which is the receipt's
 * `occurred_at`. Faults affect only the receipt: it is lost, doubled or delayed.
 */
import type { ChannelFailure, Pricing, ReceiptType } from "../../../ports/channel/channel.ts";
import { type Faults, findPricing, isTriggered } from "./faults.ts";
import type { LedgerMessage, LedgerStatus, ReceiptJob } from "./store.ts";

/** Delay of swapped receipts: long enough to read the message before its delivery is reported. */
const swapDelayMs = 1_000;
/** Between two receipts that are delivered out of order. */
const gapMs = 50;

/** The statuses that each step advances from; in any other status it has no effect. */
export const previousStatuses: Readonly<Record<ReceiptType, readonly LedgerStatus[]>> = {
  sent: ["accepted"],
  delivered: ["accepted", "sent"],
  read: ["accepted", "sent", "delivered"],
  failed: ["accepted", "sent"],
};

interface Step {
  readonly type: ReceiptType;
  readonly at: Date;
  readonly failure: ChannelFailure | null;
  readonly pricing?: Pricing | null;
}

/** The receipts of an accepted message: sent at once and delivered a little later, or failed. */
export function scheduleAcceptReceipts(
  message: LedgerMessage,
  faults: Faults,
  { failure, isBulk }: { readonly failure: ChannelFailure | null; readonly isBulk: boolean },
): ReceiptJob[] {
  const steps = stepsOf(message, faults, failure);
  return isBulk
    ? steps.map((step) => ({ ...step, priority: "bulk" as const }))
    : // One key, one at a time: without a fault, receipts arrive in order.
      steps.map((step) => ({ ...step, key: message.id }));
}

type DueStep = Pick<ReceiptJob, "runAt" | "payload">;

function stepsOf(message: LedgerMessage, faults: Faults, failure: ChannelFailure | null): DueStep[] {
  const accepted = new Date(message.created_at);
  const deliveredAt = addMs(accepted, faults.receipt_delay_ms);
  if (failure) {
    return scheduleStep(message, faults, { type: "failed", at: deliveredAt, failure }, deliveredAt);
  }
  const isSwapped = isTriggered(faults.swapped_receipts, message.token, "swapped");
  const pricing = findPricing(faults, message.token);
  const deliverAt = isSwapped
    ? { delivered: addMs(deliveredAt, swapDelayMs), sent: addMs(deliveredAt, swapDelayMs + gapMs) }
    : { delivered: deliveredAt, sent: accepted };
  return [
    ...scheduleStep(message, faults, { type: "sent", at: accepted, failure: null, pricing }, deliverAt.sent),
    ...scheduleStep(
      message,
      faults,
      { type: "delivered", at: deliveredAt, failure: null, pricing },
      deliverAt.delivered,
    ),
  ].sort((one, other) => one.runAt.getTime() - other.runAt.getTime());
}

/** The receipt of a message that was read. Without a key: it must not wait for receipts that are delayed. */
export function scheduleReadReceipts(message: LedgerMessage, faults: Faults, at: Date): ReceiptJob[] {
  return scheduleStep(message, faults, { type: "read", at, failure: null }, at);
}

function scheduleStep(message: LedgerMessage, faults: Faults, step: Step, deliverAt: Date): DueStep[] {
  if (isTriggered(faults.lost_receipts, message.token, `lost ${step.type}`)) {
    return [toReceiptJob(message, step, step.at, false)];
  }
  const isDelayed = deliverAt > step.at;
  const isDoubled = isTriggered(faults.doubled_receipts, message.token, `doubled ${step.type}`);
  return [
    toReceiptJob(message, step, step.at, !isDelayed),
    ...(isDelayed ? [toReceiptJob(message, step, deliverAt, true)] : []),
    ...(isDoubled ? [toReceiptJob(message, step, addMs(deliverAt, gapMs), true)] : []),
  ];
}

function toReceiptJob(
  message: LedgerMessage,
  { type, at, failure, pricing = null }: Step,
  runAt: Date,
  isTold: boolean,
): DueStep {
  const { organization_id, id, token } = message;
  return {
    runAt,
    payload: {
      organization_id,
      channel_message_id: id,
      token,
      type,
      occurred_at: at.toISOString(),
      failure,
      pricing,
      isTold,
    },
  };
}

function addMs(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms);
}
