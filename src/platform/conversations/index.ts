/** Conversations: one thread for each contact and inbox, its status and its 24-hour window. */
import { sql } from "kysely";
import { type ConversationStatus, conversations as contract } from "../../../tools/conversations.ts";
import type { Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { implement } from "../core/module.ts";
import { listConversations } from "./list.ts";
import { showThread } from "./thread.ts";

export { settable } from "./states.ts";
export { showThread } from "./thread.ts";
export { windowOf } from "./window.ts";

export const conversations = implement(contract, {
  unbuilt: [
    "update_conversation",
    "assign_conversation",
    "unassign_conversation",
    "list_assignments",
    "transfer_conversation",
  ],
  operations: {
    async list_conversations(input, context) {
      return listConversations(input, context);
    },

    async get_conversation({ id }, { db, organization, now }) {
      return { data: await showThread(db, organization, { id, now }) };
    },
  },
});

/** The thread of a contact in an inbox, made as `open` if there is none; its row is locked until the commit. */
export async function openThread(
  tx: Transaction,
  thread: { organization: string; inbox_id: string; contact_id: string; now: Date },
) {
  const { organization, inbox_id, contact_id, now } = thread;
  return tx
    .insertInto("conversations")
    .values({
      organization_id: organization,
      id: newId("conv", now),
      inbox_id,
      contact_id,
      status: "open",
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .onConflict((conflict) =>
      conflict
        .columns(["organization_id", "contact_id", "inbox_id"])
        .doUpdateSet({ updated_at: now.toISOString() }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** What an inbound message makes of a thread's status; spam stays spam, a bot keeps what is pending. */
const afterInbound: Record<ConversationStatus, ConversationStatus> = {
  open: "open",
  pending: "pending",
  closed: "open",
  snoozed: "open",
  spam: "spam",
};

/** Notes that the contact wrote: the window opens anew and the thread comes back. */
export async function noteInbound(
  tx: Transaction,
  conversation: { organization_id: string; id: string; status: ConversationStatus },
  at: string,
): Promise<void> {
  await tx
    .updateTable("conversations")
    .set({
      status: afterInbound[conversation.status],
      snoozed_until: null,
      last_message_at: latest("last_message_at", at),
      last_user_message_at: latest("last_user_message_at", at),
      // The first of several unanswered messages is the one that has waited.
      waiting_since: sql`coalesce(waiting_since, ${at}::timestamptz)`,
      is_unread: true,
    })
    .where("organization_id", "=", conversation.organization_id)
    .where("id", "=", conversation.id)
    .execute();
}

/** Notes that we wrote; our own messages never open the window. */
export async function noteOutbound(
  tx: Transaction,
  conversation: { organization_id: string; id: string },
  at: string,
): Promise<void> {
  await tx
    .updateTable("conversations")
    .set({
      last_message_at: latest("last_message_at", at),
      last_agent_message_at: latest("last_agent_message_at", at),
      waiting_since: null,
      is_unread: false,
      // A person's reply takes the thread over from a bot.
      status: sql`case when status = 'pending' then 'open' else status end`,
    })
    .where("organization_id", "=", conversation.organization_id)
    .where("id", "=", conversation.id)
    .execute();
}

type Time = "last_message_at" | "last_user_message_at" | "last_agent_message_at";

function latest(column: Time, at: string) {
  return sql<string>`greatest(${sql.ref(column)}, ${at}::timestamptz)`;
}
