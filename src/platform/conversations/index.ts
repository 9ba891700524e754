/** Conversations: one thread for each contact and inbox, its status, its agent and its 24-hour window. */
import { sql } from "kysely";
import { conversations as contract } from "../../../tools/conversations.ts";
import type { Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { readPage } from "../../database/query/index.ts";
import { type Change, implement } from "../kernel/index.ts";
import { assign, transfer, unassign } from "./assign.ts";
import { assignmentsOf } from "./assignments.ts";
import { listConversations } from "./list.ts";
import type { Thread } from "./move.ts";
import { serve, sweep } from "./queue.ts";
import { escalate, requestRouting, route } from "./route.ts";
import { happen, wake } from "./status.ts";
import { requireThread, showThread } from "./thread.ts";
import { updateConversation } from "./update.ts";

export { latestAssignment } from "./assignments.ts";
export { settable } from "./states.ts";
export { requireThread, showThread } from "./thread.ts";
export { windowOf } from "./window.ts";

export const conversations = implement(contract, {
  operations: {
    async list_conversations(input, context) {
      return listConversations(input, context);
    },

    async get_conversation({ id }, { db, organization, now }) {
      return { data: await showThread(db, organization, { id, now }) };
    },

    async update_conversation(input, context) {
      return { data: await updateConversation(input, context) };
    },

    async assign_conversation(input, context) {
      return { data: await assign(input, context) };
    },

    async unassign_conversation(input, context) {
      return { data: await unassign(input, context) };
    },

    async transfer_conversation(input, context) {
      return { data: await transfer(input, context) };
    },

    async list_assignments({ id, ...paging }, { db, organization }) {
      await requireThread(db, organization, id);
      const { rows, meta } = await readPage(assignmentsOf(db, organization, id), paging);
      return { data: rows, meta };
    },
  },
  jobs: [route, escalate, serve, sweep, wake],
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

/** Notes that the contact wrote: the window opens anew, the thread comes back, and somebody is to have it. */
export async function noteInbound(work: Change, thread: Thread, at: string): Promise<void> {
  const noted = await work.tx
    .updateTable("conversations")
    .set({
      last_message_at: latest("last_message_at", at),
      last_user_message_at: latest("last_user_message_at", at),
      // The first of several unanswered messages is the one that has waited.
      waiting_since: thread.status === "spam" ? null : sql`coalesce(waiting_since, ${at}::timestamptz)`,
      is_unread: true,
    })
    .where("organization_id", "=", thread.organization_id)
    .where("id", "=", thread.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const moved = await happen(work, noted, { type: "inbound" });
  if (moved === noted) {
    await requestRouting(work, noted, "inbound");
  }
}

/** Notes that we wrote; our own messages never open the window. */
export async function noteOutbound(work: Change, thread: Thread, at: string): Promise<void> {
  await work.tx
    .updateTable("conversations")
    .set({
      last_message_at: latest("last_message_at", at),
      last_agent_message_at: latest("last_agent_message_at", at),
      waiting_since: null,
      is_unread: false,
    })
    .where("organization_id", "=", thread.organization_id)
    .where("id", "=", thread.id)
    .execute();
  await happen(work, thread, { type: "reply" });
}

type Time = "last_message_at" | "last_user_message_at" | "last_agent_message_at";

function latest(column: Time, at: string) {
  return sql<string>`greatest(${sql.ref(column)}, ${at}::timestamptz)`;
}
