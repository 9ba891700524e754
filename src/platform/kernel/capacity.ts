/** Agent capacity: which conversations count as load, and the job that serves the queue when capacity frees up. */
import { sql } from "kysely";
import type { ConversationStatus } from "../../../tools/conversations.ts";
import type { Transaction } from "../../database/database.ts";
import type { World } from "./context.ts";

/** The name of the job that assigns queued conversations to free agents; the conversations module defines it. */
export const serveQueueJobName = "queue.serve";

/** What code that changes rows needs: the transaction, the services around it, and the time of the change. */
export interface Change {
  readonly tx: Transaction;
  readonly world: World;
  readonly now: Date;
}

/**
 * Enqueues a run that serves the organization's queue after the commit; runs of one organization follow each
 * other. Enqueues nothing while the queue is empty.
 */
export async function enqueueServeQueue({ tx, world }: Change, organization: string): Promise<void> {
  const { rows } = await sql`
    select from conversations where organization_id = ${organization} and queued_at is not null limit 1
  `.execute(tx);
  if (rows.length > 0) {
    await world.jobs.enqueue(tx, {
      name: serveQueueJobName,
      payload: { organization_id: organization },
      organization_id: organization,
      key: `${serveQueueJobName}:${organization}`,
      isDeduplicated: true,
    });
  }
}

/** Closes the conversations of a contact that is being erased, so that they no longer count as their agents' load. */
export async function closeConversations(
  change: Change,
  { organization, contact_id }: { organization: string; contact_id: string },
): Promise<void> {
  const conversations = await change.tx
    .selectFrom("conversations")
    .select(["id", "status", "team_id", "assigned_to"])
    .where("organization_id", "=", organization)
    .where("contact_id", "=", contact_id)
    // The members' counts are updated in the order in which routing locks the members.
    .orderBy("assigned_to")
    .orderBy("team_id")
    // Locked: a status that changed after this read would be counted twice.
    .forUpdate()
    .execute();
  const closed = { status: "closed", snoozed_until: null, queued_at: null, policy_id: null } as const;
  await change.tx
    .updateTable("conversations")
    .set(closed)
    .where("organization_id", "=", organization)
    .where("contact_id", "=", contact_id)
    .execute();
  for (const { team_id, assigned_to, status } of conversations) {
    if (countsAsLoad(status)) {
      await change.tx
        .updateTable("team_members")
        .set((row) => ({ current_chat_count: row("current_chat_count", "-", 1) }))
        .where("organization_id", "=", organization)
        .where("team_id", "=", team_id)
        .where("user_id", "=", assigned_to)
        .execute();
    }
  }
  await enqueueServeQueue(change, organization);
}

/** Whether a conversation of this status counts as load of its agent. */
export function countsAsLoad(status: ConversationStatus): boolean {
  return status === "open" || status === "pending";
}
