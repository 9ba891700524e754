/** Locks several conversations, and creates those that are missing. */
import { sql } from "kysely";
import type { Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import type { ConversationRow } from "../routing/index.ts";
import { selectConversations } from "./list.ts";

/** Those that are not erased, locked until the commit in the order of their ids. */
export async function lockConversations(
  tx: Transaction,
  organization: string,
  ids: readonly string[],
): Promise<readonly ConversationRow[]> {
  return selectConversations(tx, organization)
    .selectAll()
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .orderBy("id")
    .forUpdate()
    .execute();
}

/** The conversations of contacts with an inbox, locked until the commit. A new one is pending until the contact writes. */
export async function lockOrCreateConversations(
  tx: Transaction,
  {
    organization,
    inbox_id,
    contact_ids,
    now,
  }: {
    readonly organization: string;
    readonly inbox_id: string;
    readonly contact_ids: readonly string[];
    readonly now: Date;
  },
): Promise<readonly ConversationRow[]> {
  const at = now.toISOString();
  // In one order, so that two of these do not deadlock.
  const rows = [...contact_ids].sort().map((contact_id) => ({ contact_id, id: newId("conv", now) }));
  await sql`
    insert into conversations (organization_id, id, inbox_id, contact_id, status, created_at, updated_at)
    select ${organization}, id, ${inbox_id}, contact_id, 'pending', ${at}::timestamptz, ${at}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as contact (contact_id text, id text)
    on conflict (organization_id, contact_id, inbox_id) do nothing
  `.execute(tx);
  return selectConversations(tx, organization)
    .selectAll()
    .where("inbox_id", "=", inbox_id)
    .where(sql<boolean>`contact_id = any(${contact_ids}::text[])`)
    .orderBy("id")
    .forUpdate()
    .execute();
}
