/** A flow gives a conversation to the bot. */

import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import { type ConversationRow, unassign } from "../../../inbox/conversations/index.ts";
import { latestAssignment } from "../../../inbox/routing/index.ts";
import { requireActiveConfig } from "../config.ts";
import { createReceiveJob } from "./receive.ts";
import { findPart, hasPersonAnswered, resumableReasons } from "./state.ts";

interface Start {
  /** The message that the bot answers; null: the bot begins with the contact's next message. */
  readonly message_id: string | null;
  /**
   * The contact or a person has asked for the bot. Otherwise the bot does not take a conversation from a
   * person.
   */
  readonly isRequested: boolean;
}

/**
 * Gives a locked conversation to the bot.
 * @returns whether the bot has the conversation.
 * @throws Failure `chatbot_not_configured`.
 */
export async function startBot(
  change: OrganizationChange,
  conversation: ConversationRow,
  { message_id, isRequested }: Start,
): Promise<boolean> {
  const { tx, organization, now } = change;
  await requireActiveConfig(tx, organization);
  if (!isRequested && (await isWithPeople(change, conversation))) {
    return false;
  }
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
    await tx.enqueue([createReceiveJob(message)]);
  }
  return true;
}

/**
 * Whether people handle the conversation: the bot's part ended for good, a person has answered, or a person
 * or a flow (not routing) has assigned the conversation.
 */
async function isWithPeople(
  { tx, organization }: OrganizationChange,
  conversation: ConversationRow,
): Promise<boolean> {
  const part = await findPart(tx, conversation);
  if (part?.state === "active") {
    return false;
  }
  if (part && !resumableReasons.includes(part.ended_reason)) {
    return true;
  }
  if (await hasPersonAnswered(tx, conversation)) {
    return true;
  }
  if (part) {
    return false;
  }
  const isAssigned = conversation.assigned_to !== null || conversation.team_id !== null;
  const assignment = isAssigned ? await latestAssignment(tx, organization, conversation.id) : undefined;
  return assignment?.assignment_type === "manual" || assignment?.assignment_type === "transfer";
}
