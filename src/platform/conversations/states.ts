/**
 * The states of a conversation, as a pure function of what happens to it.
 *
 * open, pending (a bot has it), snoozed and closed lead to each other by hand; spam is left only by hand,
 * to open or closed. What the contact writes brings back what was closed or snoozed. Only what is snoozed
 * has a time, or none for "until the contact writes".
 */
import type { ConversationStatus } from "../../../tools/conversations.ts";

export interface State {
  readonly status: ConversationStatus;
  readonly snoozed_until: string | null;
}

export type Happening =
  /** Somebody sets it. */
  | { readonly type: "set"; readonly status: ConversationStatus; readonly snoozed_until?: string | undefined }
  /** The contact wrote. */
  | { readonly type: "inbound" }
  /** A person wrote to the contact. */
  | { readonly type: "reply" }
  /** The time for which it was snoozed has come. */
  | { readonly type: "wake"; readonly until: string };

const anywhere = ["open", "pending", "snoozed", "closed", "spam"] as const;

/** To what each status may be set by hand. */
export const settable: Readonly<Record<ConversationStatus, readonly ConversationStatus[]>> = {
  open: anywhere,
  pending: anywhere,
  snoozed: anywhere,
  closed: anywhere,
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
export function transition(state: State, happening: Happening): State | undefined {
  // The table is total over `type`; the compiler can't pair a key with its own argument.
  return (transitions[happening.type] as (state: State, happening: Happening) => State | undefined)(
    state,
    happening,
  );
}

const transitions: {
  [Type in Happening["type"]]: (
    state: State,
    happening: Extract<Happening, { type: Type }>,
  ) => State | undefined;
} = {
  set: ({ status: before }, { status, snoozed_until = null }) =>
    settable[before].includes(status)
      ? { status, snoozed_until: status === "snoozed" ? snoozed_until : null }
      : undefined,
  inbound: ({ status }) => ({ status: afterInbound[status], snoozed_until: null }),
  // A person's reply takes the thread over from a bot.
  reply: (state) => (state.status === "pending" ? { status: "open", snoozed_until: null } : state),
  // One that was snoozed anew waits for its new time.
  wake: (state, { until }) =>
    state.snoozed_until === until ? { status: "open", snoozed_until: null } : state,
};
