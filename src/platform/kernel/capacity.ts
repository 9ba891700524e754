/** Tells those who wait in a queue that an agent may have become free; whatever frees one stands below routing. */
import { sql } from "kysely";
import type { ConversationStatus } from "../../../tools/conversations.ts";
import type { Transaction } from "../../database/database.ts";
import type { World } from "./context.ts";

/** The name of the job that gives waiting conversations to whoever is free; conversations define it. */
export const serveQueueJob = "queue.serve";

/** What a change is made with: one transaction, at one moment. */
export interface Change {
  readonly tx: Transaction;
  readonly world: World;
  readonly now: Date;
}

/** Who waits is served after the commit, one run after the other; nothing is promised while nobody waits. */
export async function announceCapacity({ tx, world }: Change, organization: string): Promise<void> {
  const { rows } = await sql`
    select from conversations where organization_id = ${organization} and queued_at is not null limit 1
  `.execute(tx);
  if (rows.length > 0) {
    await world.jobs.enqueue(tx, {
      name: serveQueueJob,
      payload: { organization_id: organization },
      organization_id: organization,
      key: `${serveQueueJob}:${organization}`,
      isDeduplicated: true,
    });
  }
}

/** Closes the threads of a contact who is being erased, so that they keep no agent busy. */
export async function closeThreadsOf(
  work: Change,
  { organization, contact_id }: { organization: string; contact_id: string },
): Promise<void> {
  const threads = work.tx
    .selectFrom("conversations")
    .where("organization_id", "=", organization)
    .where("contact_id", "=", contact_id);
  // Locked before they are read: a status that changes meanwhile would be counted twice.
  const held = await threads
    .select(["id", "status", "team_id", "assigned_to"])
    // Their agents are counted down in the order in which a choice locks them.
    .orderBy("assigned_to")
    .orderBy("team_id")
    .forUpdate()
    .execute();
  const closed = { status: "closed", snoozed_until: null, queued_at: null, policy_id: null } as const;
  await work.tx
    .updateTable("conversations")
    .set(closed)
    .where("organization_id", "=", organization)
    .where("contact_id", "=", contact_id)
    .execute();
  for (const { team_id, assigned_to, status } of held) {
    if (isBusy(status)) {
      await work.tx
        .updateTable("team_members")
        .set((row) => ({ current_chat_count: row("current_chat_count", "-", 1) }))
        .where("organization_id", "=", organization)
        .where("team_id", "=", team_id)
        .where("user_id", "=", assigned_to)
        .execute();
    }
  }
  await announceCapacity(work, organization);
}

/** Whether a conversation of this status counts for its agent. */
export function isBusy(status: ConversationStatus): boolean {
  return status === "open" || status === "pending";
}
