/** What the modules above know of a conversation, and do when their messages progress. */
import type { z } from "zod";
import type { BotInConversation } from "../../../../tools/chatbot.ts";
import type { ActiveRun } from "../../../../tools/messages/index.ts";
import type { Queries } from "../../../database/database.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { defineHook, type Transaction, type World } from "../../foundation/kernel/index.ts";

type MessageStatus = Tables["messages"]["status"];

/** A new status of a message of a broadcast. */
export interface BroadcastProgress {
  readonly organization_id: string;
  readonly broadcast_id: string;
  readonly message_id: string;
  readonly before: MessageStatus;
  readonly after: MessageStatus;
  /** Of a message that failed. */
  readonly error: { readonly code: string } | null;
}

/**
 * The delivery of messages of broadcasts has progressed. Several changes of one message are in their order.
 * Not an event: the counts must agree with the messages after a crash too.
 */
export const broadcastProgressed =
  defineHook<[tx: Transaction, world: World, changes: readonly BroadcastProgress[]]>();

/** What acts in a conversation by itself; null if nothing does. */
export interface Automation {
  readonly flow_run?: z.input<typeof ActiveRun> | null;
  /** The bot's part; null if it never had one. */
  readonly chatbot?: z.input<typeof BotInConversation> | null;
}

/** Not an event: it is a question. */
export const automationIn = defineHook<
  [db: Queries, conversation: { readonly organization: string; readonly conversation_id: string }],
  Automation
>();
