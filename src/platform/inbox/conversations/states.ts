/**
 * The status of a conversation, as a pure function of the events that happen to it.
 *
 * The statuses are open, pending (a flow or the bot handles it, or the contact's first answer is awaited), snoozed, closed
 * and spam. A user may set any status, but spam only to open or closed. A message from the contact reopens a snoozed
 * conversation, and a closed one, which becomes pending if a waiting flow or the bot takes the message. Only a snoozed
 * conversation has `snoozed_until`; null there means "until the contact writes".
 *
 * A pending conversation that a broadcast or a flow began, or that reopened as pending, has `opens_on_answer`: it becomes
 * open with the first message that neither a waiting flow nor the bot takes. One that was set to pending stays pending
 * until its status is set again, or a person replies.
 */
import type { ConversationStatus } from "../../../../tools/conversations.ts";

export interface ConversationState {
  readonly status: ConversationStatus;
  readonly snoozed_until: string | null;
  readonly opens_on_answer: boolean;
}

export type ConversationEvent =
  /** A user or a key sets the status. */
  | { readonly type: "set"; readonly status: ConversationStatus; readonly snoozed_until?: string | undefined }
  /** The contact wrote; `isTaken`: a waiting flow or the bot takes the message. */
  | { readonly type: "inbound"; readonly isTaken: boolean }
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

/** The state after the event; undefined if the event is not allowed in this state. */
export function transition(
  state: ConversationState,
  event: ConversationEvent,
): ConversationState | undefined {
  if (event.type === "set") {
    const { status, snoozed_until = null } = event;
    return allowedStatuses[state.status].includes(status)
      ? { status, snoozed_until: status === "snoozed" ? snoozed_until : null, opens_on_answer: false }
      : undefined;
  }
  if (event.type === "inbound") {
    return afterInbound[state.status](state, event);
  }
  if (event.type === "reply") {
    // A reply by an agent takes the conversation over from the bot.
    return state.status === "pending" ? open : state;
  }
  // A conversation that was snoozed again waits for its new time.
  return state.snoozed_until === event.until ? open : state;
}

type InboundEvent = Extract<ConversationEvent, { type: "inbound" }>;

const open: ConversationState = { status: "open", snoozed_until: null, opens_on_answer: false };

const afterInbound: Readonly<
  Record<ConversationStatus, (state: ConversationState, event: InboundEvent) => ConversationState>
> = {
  open: () => open,
  pending: (state, { isTaken }) => (state.opens_on_answer && !isTaken ? open : state),
  closed: (_, { isTaken }) => (isTaken ? { ...open, status: "pending", opens_on_answer: true } : open),
  snoozed: () => open,
  spam: (state) => state,
};
