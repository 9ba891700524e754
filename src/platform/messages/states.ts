/**
 * The states of an outbound message, as a pure function of its progress and a receipt.
 *
 * queued → (sending) → sent → delivered → read, or failed. The status never goes back: a receipt applies only
 * if it ranks higher. `delivered` and `read` override `failed`, because they prove delivery; a failure after
 * delivery is stored as a receipt and does not change the status.
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

/** Applies a receipt. A status that was skipped gets the time of the receipt that implies it. */
export function advanceStatus(before: MessageProgress, type: ReceiptType, at: string): MessageProgress {
  if (before.status === "received") {
    return before;
  }
  return type === "failed" ? afterFailure(before, at) : afterSuccess(before, type, at);
}

function afterFailure(before: MessageProgress, at: string): MessageProgress {
  const isFinal = before.status === "delivered" || before.status === "read" || before.status === "failed";
  return isFinal ? before : { ...before, status: "failed", failed_at: at };
}

function afterSuccess(before: MessageProgress, type: keyof typeof times, at: string): MessageProgress {
  const after = { ...before, ...timesAfter(before, type, at) };
  return ranksHigher(type, before.status) ? { ...after, status: type, failed_at: null } : after;
}

function ranksHigher(type: keyof typeof times, status: MessageProgress["status"]): boolean {
  if (status === "failed") {
    return type !== "sent";
  }
  return status !== "received" && ranks[type] > ranks[status];
}

/** The columns that each receipt sets: its own first, then those of the states before it. */
const times = {
  sent: ["sent_at"],
  delivered: ["delivered_at", "sent_at"],
  read: ["read_at", "delivered_at", "sent_at"],
} as const;

/** Sets the receipt's own time; earlier states keep theirs, or get the same time if they have none. */
function timesAfter(before: MessageProgress, type: keyof typeof times, at: string): Partial<MessageProgress> {
  return Object.fromEntries(
    times[type].map((column, index) => [column, index === 0 ? at : (before[column] ?? at)]),
  );
}
