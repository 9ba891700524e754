/** Erases the content of a contact's messages. The rows stay, for statistics. */
import { sql } from "kysely";
import type { Transaction } from "../../database/database.ts";
import type { ErasedContact } from "../kernel/index.ts";

/** Replaces these members of an error. */
const withoutText = JSON.stringify({ title: "", detail: null });

/** Messages in one transaction. */
const batchSize = 500;

/** What the codes of an error say stays; the channel's text may contain the phone number. */
export async function eraseMessages(
  tx: Transaction,
  { organization_id, conversation_ids }: ErasedContact,
  after: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    with batch as (
      select id from messages
      where organization_id = ${organization_id} and conversation_id = any(${conversation_ids}::text[]) and id > ${after}
      order by id limit ${batchSize}
    ), erased as (
      update messages set content = '{}', "from" = null, "to" = null, error = error || ${withoutText}::jsonb
      where organization_id = ${organization_id} and id in (select id from batch)
    ), erased_receipts as (
      update message_receipts set error = error || ${withoutText}::jsonb
      where organization_id = ${organization_id} and message_id in (select id from batch) and error is not null
    )
    select id from batch order by id
  `.execute(tx);
  return rows.at(-1)?.id;
}
