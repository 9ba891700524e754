/** Erases the personal data of a contact's conversations. The rows stay, for statistics. */
import { sql } from "kysely";
import type { Transaction } from "../../database/database.ts";
import { updateBatch } from "../../database/query/index.ts";
import type { Change, ErasedContact } from "../kernel/index.ts";
import { changeConversation } from "./change.ts";

/** Closes the conversations, so that they no longer count as their agents' load, and hides them. */
export async function eraseConversations(
  change: Change,
  { organization_id, contact_id }: ErasedContact,
): Promise<void> {
  const { tx, now } = change;
  const conversations = await tx
    .selectFrom("conversations")
    .selectAll()
    .where("organization_id", "=", organization_id)
    .where("contact_id", "=", contact_id)
    // The members' counts are updated in the order in which routing locks the members.
    .orderBy("assigned_to")
    .orderBy("team_id")
    .forUpdate()
    .execute();
  const closed = { status: "closed", snoozed_until: null, queued_at: null, policy_id: null } as const;
  for (const conversation of conversations) {
    await changeConversation(change, conversation, closed);
  }
  await tx
    .updateTable("conversations")
    .set({ erased_at: now.toISOString(), tags: [] })
    .where("organization_id", "=", organization_id)
    .where("contact_id", "=", contact_id)
    .execute();
}

/** The reasons of assignments are free text, and may contain personal data. */
export async function eraseAssignments(
  tx: Transaction,
  { organization_id, contact_id }: ErasedContact,
  after: string,
): Promise<string | undefined> {
  const ids = sql`
    select id from assignments where organization_id = ${organization_id} and contact_id = ${contact_id}`;
  const update = sql`
    update assignments set reason = null
    where organization_id = ${organization_id} and id in (select id from batch) and reason is not null`;
  return updateBatch(tx, ids, { updates: [update], after });
}
