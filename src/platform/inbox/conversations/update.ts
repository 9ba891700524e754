/** Updates a conversation by hand: its status, tags, favorite and unread flags. */
import type { z } from "zod";
import type { conversations as contract } from "../../../../tools/conversations.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { capacityFreed } from "../../account/users.ts";
import type { OrganizationChange } from "../../foundation/kernel/index.ts";
import { changeTags } from "../contacts/index.ts";
import { getConversationDetails, requireConversation } from "./find.ts";
import { setStatus } from "./status.ts";

type Input = z.output<typeof contract.update_conversation.input>;

export async function updateConversation(input: Input, context: OrganizationChange) {
  const { id, status, snoozed_until, is_favorite, is_unread, add_tags, remove_tags } = input;
  const { tx, organization, now } = context;
  const conversation = await requireConversation(tx, organization, id, { locks: true });
  const tags = changeTags(conversation.tags, { add: add_tags, remove: remove_tags }, "add_tags");
  const flags = {
    ...(is_favorite === undefined ? {} : { is_favorite }),
    ...(is_unread === undefined ? {} : { is_unread }),
    // A conversation that a person marks as unread counts as one message.
    ...(is_unread && !conversation.is_unread ? { unread_count: 1 } : {}),
  };
  await ofOrganization(tx, organization)
    .updateTable("conversations")
    .set({ tags, ...flags, updated_at: now.toISOString() })
    .where("id", "=", id)
    .execute();
  if (status !== undefined) {
    await setStatus(context, { ...conversation, tags, ...flags }, { type: "set", status, snoozed_until });
  }
  // Tags name required skills: an agent who is free may now have the skills.
  if (tags.join() !== conversation.tags.join()) {
    await capacityFreed.run(context.world, context, organization);
  }
  return getConversationDetails(tx, organization, { id, now });
}
