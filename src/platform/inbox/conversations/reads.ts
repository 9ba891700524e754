/** Which conversations a person has read; `is_unread` says whether anybody has. */
import { type RawBuilder, sql } from "kysely";
import type { Transaction } from "../../foundation/kernel/index.ts";

interface Reader {
  readonly organization: string;
  /** The id of a user. */
  readonly reader: string;
}

/**
 * Whether a message from the contact was stored since the person read the conversation last, or since the
 * person joined: an expression in a query of `conversations`. A message may be stored long after it was
 * written. Only its own time is known of those before migration 0068.
 */
export function unreadBy({ organization, reader }: Reader): RawBuilder<boolean> {
  return sql<boolean>`coalesce(greatest(conversations.last_received_at, conversations.last_user_message_at) > coalesce(
    (select read_at from conversation_reads as read
      where read.organization_id = ${organization} and read.user_id = ${reader}
        and read.conversation_id = conversations.id),
    (select created_at from users where organization_id = ${organization} and id = ${reader})
  ), false)`;
}

/** Records that the person has read the conversation, or has marked it as unread. */
export async function recordRead(
  tx: Transaction,
  { organization, reader }: Reader,
  { conversation_id, isUnread, now }: { conversation_id: string; isUnread: boolean; now: Date },
): Promise<void> {
  // Before every message: the conversation is unread if the contact ever wrote.
  const read_at = (isUnread ? new Date(0) : now).toISOString();
  await tx
    .insertInto("conversation_reads")
    .values({ organization_id: organization, user_id: reader, conversation_id, read_at })
    .onConflict((conflict) =>
      conflict.columns(["organization_id", "user_id", "conversation_id"]).doUpdateSet({ read_at }),
    )
    .execute();
}
