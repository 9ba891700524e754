/** Updates a conversation by hand: its status, tags, favorite and unread flags. */

import { sql } from "kysely";
import type { z } from "zod";
import type { conversations as contract } from "../../../../tools/conversations.ts";
import type { EventData } from "../../../../tools/events.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { capacityFreed } from "../../account/users.ts";
import { isListenedTo, type OrganizationChange } from "../../foundation/kernel/index.ts";
import { changeTags } from "../contacts/index.ts";
import {
  type ConversationRow,
  getConversationDetails,
  requireConversation,
  toConversationEvent,
} from "./find/index.ts";
import { recordRead } from "./reads.ts";
import { setStatus } from "./status.ts";

type Input = z.output<typeof contract.update_conversation.input>;

export async function updateConversation(input: Input, context: OrganizationChange) {
  const { id, status, snoozed_until, is_favorite, is_unread, add_tags, remove_tags } = input;
  const { tx, organization, now, actor } = context;
  const conversation = await requireConversation(tx, organization, id, { locks: true });
  const tags = changeTags(conversation.tags, { add: add_tags, remove: remove_tags }, "add_tags");
  const flags = {
    ...(is_favorite === undefined ? {} : { is_favorite }),
    ...(is_unread === undefined ? {} : { is_unread }),
    // A conversation that a person marks as unread counts as one message.
    ...(is_unread && !conversation.is_unread ? { unread_count: 1 } : {}),
  };
  const { is_listened_to } = await ofOrganization(tx, organization)
    .updateTable("conversations")
    .set({ tags, ...flags, updated_at: now.toISOString() })
    .where("id", "=", id)
    .returning(isListenedTo(sql`organization_id`, ["conversation.updated"]).as("is_listened_to"))
    .executeTakeFirstOrThrow();
  const reader = actor.type === "user" ? actor.id : undefined;
  if (reader !== undefined && is_unread !== undefined) {
    const read = { conversation_id: id, isUnread: is_unread, now };
    await recordRead(tx, { organization, reader }, read);
  }
  if (status !== undefined) {
    await setStatus(context, { ...conversation, tags, ...flags }, { type: "set", status, snoozed_until });
  }
  // Tags name required skills: an agent who is free may now have the skills.
  if (tags.join() !== conversation.tags.join()) {
    await capacityFreed.run(context.world, context, organization);
  }
  const updated = await getConversationDetails(tx, organization, { id, now, reader });
  const fields = changedFields(conversation, updated);
  if (is_listened_to && fields.length > 0) {
    const data = { ...toConversationEvent(updated, actor), fields };
    tx.emit({ type: "conversation.updated", organization_id: organization, order: id, data });
  }
  return updated;
}

type Changeable = Pick<ConversationRow, "status" | "tags" | "is_favorite" | "is_unread">;

function changedFields(before: Changeable, after: Changeable): EventData<"conversation.updated">["fields"] {
  const fields = ["status", "tags", "is_favorite", "is_unread"] as const;
  return fields.filter((field) => String(before[field]) !== String(after[field]));
}
