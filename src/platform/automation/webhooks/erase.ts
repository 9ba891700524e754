/** Deletes the events of a contact who is being erased. */

import { sql } from "kysely";
import type { Transaction } from "../../foundation/kernel/index.ts";
import type { ErasedContact } from "../../inbox/contacts/index.ts";

/** Events in one transaction. */
const batchSize = 500;

/**
 * Deletes events with their deliveries, because a delivery stores the receiver's response, which may repeat
 * the event.
 */
export async function eraseEvents(
  tx: Transaction,
  { organization_id, contact_id, conversation_ids }: ErasedContact,
): Promise<string | undefined> {
  const { rows } = await sql`
    with batch as (
      delete from events where organization_id = ${organization_id} and id in (
        select id from events
        where organization_id = ${organization_id}
          and (conversation_id = any(${conversation_ids}::text[]) or contact_id = ${contact_id})
        limit ${batchSize}
      )
      returning id
    ), deliveries as (
      delete from webhook_deliveries
      where organization_id = ${organization_id} and event_id in (select id from batch)
    )
    select id from batch
  `.execute(tx);
  return rows.length === batchSize ? "" : undefined;
}
