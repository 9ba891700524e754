/** Erases a contact from plans: those about the contact, and its place among the targets of the others. */
import { sql } from "kysely";
import type { Transaction } from "../../foundation/kernel/index.ts";
import type { ErasedContact } from "../../inbox/contacts/index.ts";

/** At most 100 plans of a credential are open, and ended plans are deleted after 90 days: few rows. */
export async function erasePlans(tx: Transaction, erased: ErasedContact): Promise<undefined> {
  const { organization_id, contact_id, conversation_ids, identities } = erased;
  const subjects = [contact_id, ...conversation_ids, ...identities];
  await sql`
    delete from plans where organization_id = ${organization_id} and subjects && ${subjects}::text[]
  `.execute(tx);
  await sql`
    delete from plan_targets where organization_id = ${organization_id} and contact_id = ${contact_id}
  `.execute(tx);
  return undefined;
}
