/** A flow gives a conversation to the bot. */
import { type ConversationRow, unassign } from "../../conversations/index.ts";
import type { OrganizationChange } from "../../kernel/index.ts";
import { requireActiveConfig } from "../config.ts";
import { createReceiveJob } from "./receive.ts";

/**
 * Gives a locked conversation to the bot: from `message_id` on, which it answers, or from the contact's next message on.
 *
 * @throws Failure `chatbot_not_configured`.
 */
export async function startBot(
  change: OrganizationChange,
  conversation: ConversationRow,
  message_id: string | null,
): Promise<void> {
  const { tx, organization, now } = change;
  await requireActiveConfig(tx, organization);
  if (conversation.assigned_to !== null || conversation.queued_at !== null) {
    await unassign({ id: conversation.id }, change);
  }
  const { id: conversation_id, contact_id } = conversation;
  const active = {
    contact_id,
    state: "active",
    started_by: "flow",
    since: now.toISOString(),
    ended_at: null,
    ended_reason: null,
  } as const;
  await tx
    .insertInto("chatbot_conversations")
    .values({ organization_id: organization, conversation_id, ...active })
    .onConflict((conflict) => conflict.columns(["organization_id", "conversation_id"]).doUpdateSet(active))
    .execute();
  if (message_id !== null) {
    const message = { organization_id: organization, conversation_id, message_id };
    await change.world.jobs.enqueueAll(tx, [createReceiveJob({ ...message, is_handed_over: true })]);
  }
}
