/**
 * The states of a conversation, as a pure function of what happens to it.
 *
 * open, pending (a bot has it), snoozed and closed lead to each other by hand; spam is left only by hand,
 * to open or closed. What the contact writes brings back what was closed or snoozed. Only what is snoozed
 * has a time, or none for "until the contact writes".
 */
import type { ConversationStatus } from "../../../tools/conversations.ts";

export interface ConversationState {
  readonly status: ConversationStatus;
  readonly snoozed_until: string | null;
}

export type ConversationEvent =
  /** Somebody sets it. */
  | { readonly type: "set"; readonly status: ConversationStatus; readonly snoozed_until?: string | undefined }
  /** The contact wrote. */
  | { readonly type: "inbound" }
  /** A person wrote to the contact. */
  | { readonly type: "reply" }
  /** The time for which it was snoozed has come. */
  | { readonly type: "wake"; readonly until: string };

const allStatuses = ["open", "pending", "snoozed", "closed", "spam"] as const;

/** To what each status may be set by hand. */
export const allowedStatuses: Readonly<Record<ConversationStatus, readonly ConversationStatus[]>> = {
  open: allStatuses,
  pending: allStatuses,
  snoozed: allStatuses,
  closed: allStatuses,
  spam: ["open", "closed", "spam"],
};

const afterInbound: Readonly<Record<ConversationStatus, ConversationStatus>> = {
  open: "open",
  // A bot keeps it.
  pending: "pending",
  closed: "open",
  snoozed: "open",
  spam: "spam",
};

/** The state afterwards; undefined when it may not happen. */
export function transition(
  state: ConversationState,
  happening: ConversationEvent,
): ConversationState | undefined {
  // The table is total over `type`; the compiler can't pair a key with its own argument.
  return (
    transitions[happening.type] as (
      state: ConversationState,
      happening: ConversationEvent,
    ) => ConversationState | undefined
  )(state, happening);
}

const transitions: {
  [Type in ConversationEvent["type"]]: (
    state: ConversationState,
    happening: Extract<ConversationEvent, { type: Type }>,
  ) => ConversationState | undefined;
} = {
  set: ({ status: before }, { status, snoozed_until = null }) =>
    allowedStatuses[before].includes(status)
      ? { status, snoozed_until: status === "snoozed" ? snoozed_until : null }
      : undefined,
  inbound: ({ status }) => ({ status: afterInbound[status], snoozed_until: null }),
  // A person's reply takes the conversation over from a bot.
  reply: (state) => (state.status === "pending" ? { status: "open", snoozed_until: null } : state),
  // One that was snoozed anew waits for its new time.
  wake: (state, { until }) =>
    state.snoozed_until === until ? { status: "open", snoozed_until: null } : state,
};
