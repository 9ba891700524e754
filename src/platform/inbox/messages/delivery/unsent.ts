/** Reads queued messages with what decides whether and how they are sent. */
import { sql } from "kysely";
import { byWholeKey } from "../../../../database/query/index.ts";
import type { InboxHealth } from "../../../../database/schema/index.ts";
import { type StoredAccount, storedAccount } from "../../../account/inboxes/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import type { MessageRow } from "../progress.ts";
import { selectQuotaRestoredAt } from "./person-quota.ts";

/** Names a message. */
export interface MessageName {
  readonly organization_id: string;
  readonly message_id: string;
}

/** A message that waited longer than this, for a busy channel or behind others, fails as expired. */
export const maxWaitMs = 24 * 3_600_000;

/** A message with its conversation, contact and inbox. */
export interface UnsentMessage extends MessageRow {
  /** The channel's id of the message that it quotes. */
  readonly quoted_id: string | null;
  readonly last_user_message_at: string | null;
  readonly erased_at: string | null;
  readonly blocked_at: string | null;
  readonly opted_out: boolean;
  readonly channel: string;
  readonly settings: Record<string, unknown>;
  readonly phone_number: string;
  readonly inbox_id: string;
  readonly health: InboxHealth | null;
  readonly account: StoredAccount | null;
  /** When the person's quota is unused again; null without an account, or if nothing was sent lately. */
  readonly person_full_at: string | null;
}

/** The messages that are still to be sent, by id, locked until the commit. */
export async function readUnsent(
  tx: Transaction,
  names: readonly MessageName[],
  now: Date,
): Promise<ReadonlyMap<string, UnsentMessage>> {
  const [first] = names;
  const { rows } = await sql<UnsentMessage>`
    select message.*, (
        select channel_message_id from messages as quoted
        where quoted.organization_id = message.organization_id and quoted.id = message.reply_to
      ) as quoted_id, conversation.last_user_message_at, conversation.erased_at,
      contact.blocked_at, contact.opted_out, inbox.channel, inbox.settings, inbox.phone_number,
      inbox.id as inbox_id, inbox.health, ${storedAccount} as account, quota.person_full_at
    from messages as message
    cross join lateral (
      select * from conversations
      where organization_id = message.organization_id and id = message.conversation_id
      ${byWholeKey}
    ) as conversation
    cross join lateral (
      select blocked_at, opted_out from contacts
      where organization_id = message.organization_id and id = conversation.contact_id
      ${byWholeKey}
    ) as contact
    cross join lateral (
      select * from inboxes where organization_id = message.organization_id and id = conversation.inbox_id
      ${byWholeKey}
    ) as inbox
    left join lateral (
      select * from inbox_accounts where organization_id = message.organization_id and inbox_id = inbox.id
      ${byWholeKey}
    ) as account on true
    cross join lateral (${selectQuotaRestoredAt(now, maxWaitMs)}) as quota
    where message.organization_id = ${first?.organization_id}
      and message.id = any(${names.map(({ message_id }) => message_id)}::text[])
      and message.direction = 'outbound' and message.status in ('queued', 'sending')
    order by message.id
    for update of message
  `.execute(tx);
  return new Map(rows.map((row) => [row.id, row]));
}
