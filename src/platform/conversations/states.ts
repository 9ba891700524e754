/**
 * The status of a conversation, as a pure function of the events that happen to it.
 *
 * The statuses are open, pending (a bot handles it), snoozed, closed and spam. A user may set any status, but spam
 * only to open or closed. A message from the contact reopens a closed or snoozed conversation. Only a snoozed
 * conversation has `snoozed_until`; null there means "until the contact writes".
 */
import type { ConversationStatus } from "../../../tools/conversations.ts";

export interface ConversationState {
  readonly status: ConversationStatus;
  readonly snoozed_until: string | null;
}

export type ConversationEvent =
  /** A user or a key sets the status. */
  | { readonly type: "set"; readonly status: ConversationStatus; readonly snoozed_until?: string | undefined }
  /** The contact wrote. */
  | { readonly type: "inbound" }
  /** An agent wrote to the contact. */
  | { readonly type: "reply" }
  /** The time until which the conversation was snoozed has come. */
  | { readonly type: "wake"; readonly until: string };

const allStatuses = ["open", "pending", "snoozed", "closed", "spam"] as const;

/** The statuses that each status may be changed to by hand. */
export const allowedStatuses: Readonly<Record<ConversationStatus, readonly ConversationStatus[]>> = {
  open: allStatuses,
  pending: allStatuses,
  snoozed: allStatuses,
  closed: allStatuses,
  spam: ["open", "closed", "spam"],
};

const afterInbound: Readonly<Record<ConversationStatus, ConversationStatus>> = {
  open: "open",
  // The bot keeps it.
  pending: "pending",
  closed: "open",
  snoozed: "open",
  spam: "spam",
};

/** The state after the event; undefined if the event is not allowed in this state. */
export function transition(
  state: ConversationState,
  event: ConversationEvent,
): ConversationState | undefined {
  if (event.type === "set") {
    const { status, snoozed_until = null } = event;
    return allowedStatuses[state.status].includes(status)
      ? { status, snoozed_until: status === "snoozed" ? snoozed_until : null }
      : undefined;
  }
  if (event.type === "inbound") {
    return { status: afterInbound[state.status], snoozed_until: null };
  }
  if (event.type === "reply") {
    // A reply by an agent takes the conversation over from the bot.
    return state.status === "pending" ? { status: "open", snoozed_until: null } : state;
  }
  // A conversation that was snoozed again waits for its new time.
  return state.snoozed_until === event.until ? { status: "open", snoozed_until: null } : state;
}
