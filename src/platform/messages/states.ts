/**
 * The states of an outbound message, as a pure function of what is known and what the channel tells.
 *
 * queued → (sending) → sent → delivered → read, or failed. A receipt only ever raises the rank; proof of
 * delivery outweighs a failure; a failure after delivery is kept in the receipts and not shown.
 */
import type { ReceiptType } from "../../ports/channel.ts";

export interface MessageProgress {
  readonly status: "queued" | "sending" | "sent" | "delivered" | "read" | "failed" | "received";
  readonly sent_at: string | null;
  readonly delivered_at: string | null;
  readonly read_at: string | null;
  readonly failed_at: string | null;
}

const ranks = { queued: 0, sending: 0, sent: 1, delivered: 2, read: 3 } as const;

/**
 * What a receipt changes: the new progress, and whether the status moved.
 * A status that was skipped takes its time from the receipt that implied it.
 */
export function advanceStatus(
  before: MessageProgress,
  type: ReceiptType,
  at: string,
): { after: MessageProgress; moved: boolean } {
  if (before.status === "received") {
    return { after: before, moved: false };
  }
  return type === "failed" ? afterFailure(before, at) : afterSuccess(before, type, at);
}

function afterFailure(before: MessageProgress, at: string): { after: MessageProgress; moved: boolean } {
  const isFinal = before.status === "delivered" || before.status === "read" || before.status === "failed";
  if (isFinal) {
    return { after: before, moved: false };
  }
  return { after: { ...before, status: "failed", failed_at: at }, moved: true };
}

function afterSuccess(before: MessageProgress, type: keyof typeof times, at: string) {
  const times = timesAfter(before, type, at);
  const isProof = type !== "sent";
  const isRaise =
    before.status === "failed" ? isProof : before.status !== "received" && ranks[type] > ranks[before.status];
  if (!isRaise) {
    return { after: { ...before, ...times }, moved: false };
  }
  return { after: { ...before, ...times, status: type, failed_at: null }, moved: true };
}

const times = {
  sent: ["sent_at"],
  delivered: ["delivered_at", "sent_at"],
  read: ["read_at", "delivered_at", "sent_at"],
} as const;

/** The receipt's own time for its own state; the same, where nothing is known, for the states before it. */
function timesAfter(before: MessageProgress, type: keyof typeof times, at: string): Partial<MessageProgress> {
  return Object.fromEntries(
    times[type].map((column, index) => [column, index === 0 ? at : (before[column] ?? at)]),
  );
}
