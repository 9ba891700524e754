/** Reads queued messages with what decides whether and how they are sent. */
import {
  allColumnsOf,
  byWholeKey,
  columnOf,
  columnsOf,
  nullable,
  type RowOf,
  rowsOf,
  typed,
} from "../../../../database/query/index.ts";
import { type StoredAccount, storedAccount } from "../../../account/inboxes/index.ts";
import type { Transaction, World } from "../../../foundation/kernel/index.ts";
import { selectQuotaRestoredAt } from "./person-quota.ts";

/** Names a message. */
export interface MessageName {
  readonly organization_id: string;
  readonly message_id: string;
}

/** A message that waited longer than this, for a busy channel or behind others, fails as expired. */
export const maxWaitMs = 24 * 3_600_000;

const columns = {
  ...allColumnsOf("messages"),
  /** The channel's id of the message that it quotes. */
  quoted_id: nullable("text"),
  ...columnsOf("conversations", "last_user_message_at", "erased_at"),
  ...columnsOf("contacts", "blocked_at", "opted_out"),
  ...columnsOf("inboxes", "channel", "settings", "phone_number", "health"),
  inbox_id: columnOf("inboxes", "id"),
  account: typed<StoredAccount | null>("jsonb"),
  /**
   * When the person's quota is unused again; null on a channel without quotas, or if nothing was sent lately.
   */
  person_full_at: nullable("timestamptz"),
} as const;

/** A message with its conversation, contact and inbox. */
export type UnsentMessage = RowOf<typeof columns>;

/** The messages that are still to be sent, by id, locked until the commit. */
export async function readUnsent(
  { tx, world }: { readonly tx: Transaction; readonly world: World },
  names: readonly MessageName[],
  now: Date,
): Promise<ReadonlyMap<string, UnsentMessage>> {
  const [first] = names;
  const { rows } = await rowsOf(columns)`
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
    cross join lateral (${selectQuotaRestoredAt(world, { now, maxWaitMs })}) as quota
    where message.organization_id = ${first?.organization_id}
      and message.id = any(${names.map(({ message_id }) => message_id)}::text[])
      and message.direction = 'outbound' and message.status in ('queued', 'sending')
    order by message.id
    for update of message
  `.execute(tx);
  return new Map(rows.map((row) => [row.id, row]));
}
