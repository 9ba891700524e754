/** Erases the content of a contact's messages. The rows stay, for statistics. */
import { sql } from "kysely";
import { rowsOf, updateBatch } from "../../../database/query/index.ts";
import { withdrawFiles } from "../../content/uploads/index.ts";
import { defineRetentionJob, type Transaction } from "../../foundation/kernel/index.ts";
import type { ErasedContact } from "../contacts/index.ts";

const filesPerBatch = 500;

/** Replaces these members of an error. */
const withoutText = JSON.stringify({ title: "", detail: null });

/**
 * Withdraws the files that the contact sent, and those that the owner sent from the phone. The files of other
 * outbound messages are the organization's own.
 */
export async function eraseReceivedFiles(
  tx: Transaction,
  { organization_id, conversation_ids }: ErasedContact,
  after: string,
): Promise<string | undefined> {
  const { rows } = await rowsOf({ id: "text", key: "text" })`
    select id, content #>> '{media,upload}' as key from messages
    where organization_id = ${organization_id} and conversation_id = any(${conversation_ids}::text[])
      and (direction = 'inbound' or sent_by ->> 'type' = 'phone')
      and content #>> '{media,upload}' is not null and id > ${after}
    order by id limit ${filesPerBatch}
  `.execute(tx);
  const keys = rows.map(({ key }) => key);
  await withdrawFiles(tx, organization_id, keys);
  return rows.at(-1)?.id;
}

/** What the codes of an error say stays; the channel's text may contain the phone number. */
export async function eraseMessages(
  tx: Transaction,
  { organization_id, conversation_ids }: ErasedContact,
  after: string,
): Promise<string | undefined> {
  const ids = sql`
    select id from messages
    where organization_id = ${organization_id} and conversation_id = any(${conversation_ids}::text[])`;
  const updates = [
    sql`
      delete from message_originals
      where organization_id = ${organization_id} and message_id in (select id from batch)`,
    sql`
      delete from message_words
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

/**
 * Processes of the version before keep there, and read, what a channel sent of a message of an unknown type.
 * A trigger copies it to the message; the next version drops the table. The job has the name of that version,
 * whose processes may run it too.
 */
export const deleteOriginalsJob = defineRetentionJob({
  name: "message-original.forget",
  schedule: "27 * * * *",
  rules: [{ table: "message_originals", column: "received_at", days: 7 }],
});
