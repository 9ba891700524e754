/** Updates a conversation by hand: its status, tags, favorite and unread flags. */
import type { z } from "zod";
import type { conversations as contract } from "../../../tools/conversations.ts";
import { fail } from "../../../tools/errors.ts";
import type { WriteContext } from "../kernel/index.ts";
import { getConversationDetails, requireConversation } from "./find.ts";
import { setStatus } from "./status.ts";

/** The same limit as for a contact. */
const maxTags = 200;

type Input = z.output<typeof contract.update_conversation.input>;

export async function updateConversation(input: Input, context: WriteContext) {
  const { id, status, snoozed_until, is_favorite, is_unread, add_tags, remove_tags } = input;
  const { tx, organization, now } = context;
  const conversation = await requireConversation(tx, organization, id, { locks: true });
  const tags = changeTags(conversation.tags, add_tags, remove_tags);
  const flags = {
    ...(is_favorite === undefined ? {} : { is_favorite }),
    ...(is_unread === undefined ? {} : { is_unread }),
  };
  await tx
    .updateTable("conversations")
    .set({ tags, ...flags, updated_at: now.toISOString() })
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .execute();
  if (status !== undefined) {
    await setStatus(context, { ...conversation, tags, ...flags }, { type: "set", status, snoozed_until });
  }
  // Tags name required skills: an agent who is free may now have the skills.
  if (tags.join() !== conversation.tags.join()) {
    await context.world.hooks.capacityFreed(context, organization);
  }
  return getConversationDetails(tx, organization, { id, now });
}

/** @throws Failure `too_many_tags`, except when the number of tags does not grow. */
function changeTags(before: readonly string[], add: readonly string[], remove: readonly string[]): string[] {
  const tags = [...new Set([...before, ...add])].filter((tag) => !remove.includes(tag));
  if (tags.length > maxTags && tags.length > before.length) {
    throw fail("too_many_tags", { limit: maxTags, count: tags.length, param: "add_tags" });
  }
  return tags;
}
