/** Erases the content of a contact's messages. The rows stay, for statistics. */

import { sql } from "kysely";
import { updateBatch } from "../../../database/query/index.ts";
import { withdrawal } from "../../content/uploads/index.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";
import type { ErasedContact } from "../contacts/index.ts";

/** Replaces these members of an error. */
const withoutText = JSON.stringify({ title: "", detail: null });

/** What the codes of an error say stays; the channel's text may contain the phone number. */
export async function eraseMessages(
  tx: Transaction,
  { organization_id, conversation_ids }: ErasedContact,
  after: string,
): Promise<string | undefined> {
  const ids = sql`
    select id from messages
    where organization_id = ${organization_id} and conversation_id = any(${conversation_ids}::text[])`;
  // Files that the contact sent. Those of outbound messages are the organization's own.
  const received = sql`
    select content #>> '{media,upload}' from messages
    where organization_id = ${organization_id} and id in (select id from batch) and direction = 'inbound'`;
  const updates = [
    withdrawal(organization_id, received),
    sql`
      delete from message_originals
      where organization_id = ${organization_id} and message_id in (select id from batch)`,
    sql`
      update messages set content = '{}', "from" = null, "to" = null, reactions = null, delay = null,
        error = error || ${withoutText}::jsonb
      where organization_id = ${organization_id} and id in (select id from batch)`,
    sql`
      update message_receipts set error = error || ${withoutText}::jsonb
      where organization_id = ${organization_id} and message_id in (select id from batch) and error is not null`,
  ];
  return updateBatch(tx, ids, { updates, after });
}
