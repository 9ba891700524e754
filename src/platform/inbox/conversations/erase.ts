/** Erases the personal data of a contact's conversations. The rows stay, for statistics. */

import { ofOrganization } from "../../../database/query/index.ts";
import type { Change, Transaction } from "../../foundation/kernel/index.ts";
import type { ErasedContact } from "../contacts/index.ts";
import { changeConversation } from "./change.ts";

/** No conversation is added until the commit, because the contact is locked. */
export async function findConversationIds(
  tx: Transaction,
  { organization_id, contact_id }: Pick<ErasedContact, "organization_id" | "contact_id">,
): Promise<readonly string[]> {
  const rows = await ofOrganization(tx, organization_id)
    .selectFrom("conversations")
    .select("id")
    .where("contact_id", "=", contact_id)
    .execute();
  return rows.map(({ id }) => id);
}

/** Closes the conversations, so that they no longer count as their agents' load, and hides them. */
export async function eraseConversations(
  change: Change,
  { organization_id, contact_id }: ErasedContact,
): Promise<void> {
  const { tx, now } = change;
  const conversations = await ofOrganization(tx, organization_id)
    .selectFrom("conversations")
    .selectAll()
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
  await ofOrganization(tx, organization_id)
    .updateTable("conversations")
    .set({ erased_at: now.toISOString(), tags: [], referrals: null })
    .where("contact_id", "=", contact_id)
    .execute();
}
