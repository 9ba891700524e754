/** Erases a contact from the record: acts that name the contact lose their arguments, and the ids. */
import { sql } from "kysely";
import type { Transaction } from "../../foundation/kernel/index.ts";
import type { ErasedContact } from "../../inbox/contacts/index.ts";

/** Acts per transaction. */
const batchSize = 500;

export async function eraseActs(tx: Transaction, erased: ErasedContact): Promise<string | undefined> {
  const { organization_id, contact_id, conversation_ids } = erased;
  const subjects = [contact_id, ...conversation_ids];
  const { numAffectedRows } = await sql`
    update acts set arguments = null, ids = array(select id from unnest(ids) as id where id <> all(${subjects}::text[]))
    where ctid = any(array(
      select ctid from acts where ids && ${subjects}::text[] and organization_id = ${organization_id}
      limit ${batchSize}
    ))
  `.execute(tx);
  return numAffectedRows === BigInt(batchSize) ? "next" : undefined;
}
