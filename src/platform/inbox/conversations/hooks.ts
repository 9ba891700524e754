/** What the modules above decide and do when conversations change. */
import type { Queries } from "../../../database/database.ts";
import { type Change, defineHook } from "../../foundation/kernel/index.ts";

/**
 * The conversations, of these, that a bot answers: routing looks for no agent. Not an event: routing depends on the
 * answer.
 */
export const heldByBot = defineHook<
  [
    db: Queries,
    conversations: { readonly organization: string; readonly conversation_ids: readonly string[] },
  ],
  ReadonlySet<string>
>();

/**
 * Whether a flow that waits for a reply, or the bot, takes a message that the contact has just written. Not an event: the
 * conversation's new status depends on the answer.
 */
export const takesMessage = defineHook<
  [db: Queries, conversation: { readonly organization: string; readonly conversation_id: string }],
  boolean
>();

/** The ids of conversations that bots and flows must leave to people. */
export interface TakenConversations {
  readonly organization: string;
  /** They have got an agent or a team. */
  readonly assigned?: readonly string[];
  readonly closed?: readonly string[];
  /** A person answers in them. */
  readonly answered?: readonly string[];
}

/** Not an event: a flow or a bot must not write after the person who takes over. */
export const conversationsTaken = defineHook<[change: Change, taken: TakenConversations]>();
