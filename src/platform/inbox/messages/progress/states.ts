/**
 * The states of an outbound message, as a pure function of its progress and a receipt.
 *
 * queued → (sending) → sent → delivered → read, or failed. The status never goes back: a receipt applies only
 * if it ranks higher. `delivered` and `read` override `failed`, because they prove delivery; a failure after
 * delivery is stored as a receipt and does not change the status.
 */
import type { ReceiptType } from "../../../../ports/channel/channel.ts";

export interface MessageProgress {
  readonly status: "queued" | "sending" | "sent" | "delivered" | "read" | "failed" | "received";
  readonly sent_at: string | null;
  readonly delivered_at: string | null;
  readonly read_at: string | null;
  readonly failed_at: string | null;
}

const ranks = { queued: 0, sending: 0, sent: 1, delivered: 2, read: 3 } as const;

/** The success statuses, in order, with the column of each one's time. */
export const successes = [
  { status: "sent", column: "sent_at" },
  { status: "delivered", column: "delivered_at" },
  { status: "read", column: "read_at" },
] as const;

/**
 * What advances a message: a receipt, or the channel's acceptance, whose time is by our own clock and holds
 * until the channel's `sent` receipt arrives.
 */
export type StatusStep = ReceiptType | "accepted";

/** The status that a step leads to, unless the message has one that ranks higher. */
export function statusOf(step: StatusStep): ReceiptType {
  return step === "accepted" ? "sent" : step;
}

export function advanceStatus(before: MessageProgress, step: StatusStep, at: string): MessageProgress {
  if (before.status === "received") {
    return before;
  }
  if (step === "failed") {
    return afterFailure(before, at);
  }
  const after = { ...before, ...timesAfter({ ...before, ...ownTime(before, step, at) }) };
  const status = statusOf(step);
  return ranksHigher(status, before.status) ? { ...after, status, failed_at: null } : after;
}

function afterFailure(before: MessageProgress, at: string): MessageProgress {
  const isFinal = before.status === "delivered" || before.status === "read" || before.status === "failed";
  return isFinal ? before : { ...before, status: "failed", failed_at: at };
}

function ranksHigher(status: ReceiptType, than: MessageProgress["status"]): boolean {
  if (status === "failed" || than === "received") {
    return false;
  }
  return than === "failed" ? status !== "sent" : ranks[status] > ranks[than];
}

function ownTime(
  before: MessageProgress,
  step: Exclude<StatusStep, "failed">,
  at: string,
): Partial<MessageProgress> {
  if (step === "accepted") {
    return { sent_at: before.sent_at ?? at };
  }
  return { [`${step}_at`]: at };
}

/**
 * A status that was skipped gets the time of the next one, until its own receipt arrives. No time is later
 * than the time of the next status: clocks differ, and some channels round to seconds.
 */
function timesAfter({ sent_at, delivered_at, read_at }: MessageProgress): Partial<MessageProgress> {
  const delivered = earliest(delivered_at, read_at);
  return { sent_at: earliest(sent_at, delivered), delivered_at: delivered, read_at };
}

function earliest(time: string | null, next: string | null): string | null {
  if (time === null || next === null) {
    return time ?? next;
  }
  return Date.parse(time) <= Date.parse(next) ? time : next;
}
