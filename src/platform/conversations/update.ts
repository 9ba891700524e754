/** Changes a conversation by hand: its status, its tags and its marks. */
import type { z } from "zod";
import type { conversations as contract } from "../../../tools/conversations.ts";
import { fail } from "../../../tools/errors.ts";
import { announceCapacity, type WriteContext } from "../kernel/index.ts";
import { setStatus } from "./status.ts";
import { requireThread, showThread } from "./thread.ts";

/** As of a contact: more are no labels any more. */
const maxTags = 200;

type Input = z.output<typeof contract.update_conversation.input>;

export async function updateConversation(input: Input, context: WriteContext) {
  const { id, status, snoozed_until, is_favorite, is_unread, add_tags, remove_tags } = input;
  const { tx, organization, now } = context;
  const thread = await requireThread(tx, organization, id, { locks: true });
  const tags = retag(thread.tags, add_tags, remove_tags);
  const marks = {
    ...(is_favorite === undefined ? {} : { is_favorite }),
    ...(is_unread === undefined ? {} : { is_unread }),
  };
  await tx
    .updateTable("conversations")
    .set({ tags, ...marks, updated_at: now.toISOString() })
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .execute();
  if (status !== undefined) {
    await setStatus(context, { ...thread, tags, ...marks }, { type: "set", status, snoozed_until });
  }
  // Other tags are other skills: somebody who is free may now be the right one.
  if (tags.join() !== thread.tags.join()) {
    await announceCapacity(context, organization);
  }
  return showThread(tx, organization, { id, now });
}

/** @throws Failure `too_many_tags`; one that has them can lose some. */
function retag(before: readonly string[], add: readonly string[], remove: readonly string[]): string[] {
  const tags = [...new Set([...before, ...add])].filter((tag) => !remove.includes(tag));
  if (tags.length > maxTags && tags.length > before.length) {
    throw fail("too_many_tags", { limit: maxTags, count: tags.length, param: "add_tags" });
  }
  return tags;
}
