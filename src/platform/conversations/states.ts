/**
 * The states of a conversation: open, pending (a bot has it), snoozed and closed lead to each other by hand;
 * spam is left only by hand, to open or closed.
 */
import type { ConversationStatus } from "../../../tools/conversations.ts";

const anywhere = ["open", "pending", "snoozed", "closed", "spam"] as const;

/** To what each status may be set by hand. */
export const settable: Readonly<Record<ConversationStatus, readonly ConversationStatus[]>> = {
  open: anywhere,
  pending: anywhere,
  snoozed: anywhere,
  closed: anywhere,
  spam: ["open", "closed", "spam"],
};
