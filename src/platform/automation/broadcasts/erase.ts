/**
 * Erases a contact from the recipients of broadcasts. The counts of the broadcasts still include the contact.
 */

import { sql } from "kysely";
import type { Change } from "../../foundation/kernel/index.ts";
import type { ErasedContact } from "../../inbox/contacts/index.ts";

/** A pending recipient stays pending: the dispatch excludes an erased contact. */
export async function eraseRecipients(
  { tx }: Change,
  { organization_id, contact_id }: ErasedContact,
): Promise<void> {
  await sql`
    update broadcast_recipients set "to" = null, variables = null
    where organization_id = ${organization_id} and contact_id = ${contact_id}
  `.execute(tx);
}
