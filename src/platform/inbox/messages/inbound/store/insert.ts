/** The rows of messages that were received, or that the owner sent from the phone, now or in the past. */

import { newId } from "../../../../../database/id.ts";
import { columnsOf, recordset, rowsOf } from "../../../../../database/query/index.ts";
import type { StoredContent } from "../../../../../database/schema/index.ts";
import type { PastMessage } from "../../../../../ports/channel/received.ts";
import { recordOf, type Transaction } from "../../../../foundation/kernel/index.ts";
import { senderOf } from "../../../contacts/index.ts";
import { summaryOf } from "../../wording/index.ts";
import { type MessageToStore, phoneOf, type StoredMessage } from "./message.ts";

interface MessageToInsert {
  readonly message: MessageToStore["message"];
  readonly inbox: StoredMessage["inbox"];
  readonly conversation: { readonly id: string };
  /** The status of a message of the time before the inbox was connected: it has the place of its own time. */
  readonly pastStatus?: PastMessage["status"];
}

/** Returns the ids of the new messages by the channel's id. A message that exists is left out. */
export async function insertReceived(
  tx: Transaction,
  { organization, now }: { readonly organization: string; readonly now: Date },
  messages: readonly MessageToInsert[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await rowsOf(columnsOf("messages", "id", "channel_message_id"))`
    insert into messages (organization_id, id, conversation_id, type, content, channel_message_id, direction,
      "from", "to", status, sent_by, sent_at, created_at, reply_to)
    select ${organization}, id, conversation_id, type, content, channel_message_id, direction,
      "from", "to", status, sent_by, sent_at, created_at, (
        -- Null if the quoted message is of another conversation, or unknown.
        select quoted.id from messages as quoted
        where quoted.organization_id = ${organization} and quoted.channel_message_id = message.quoted_id
          and quoted.conversation_id = message.conversation_id
      )
    from ${recordset(
      "message",
      newColumns,
      messages.map((one) => toRow(one, now)),
    )}
    on conflict (organization_id, channel_message_id) do nothing
    returning id, channel_message_id
  `.execute(tx);
  return new Map(
    rows.flatMap(({ id, channel_message_id }) =>
      channel_message_id === null ? [] : [[channel_message_id, id] as const],
    ),
  );
}

const newColumns = {
  ...columnsOf(
    "messages",
    "id",
    "conversation_id",
    "type",
    "content",
    "channel_message_id",
    "direction",
    "from",
    "to",
    "status",
    "sent_by",
    "sent_at",
    "created_at",
  ),
  quoted_id: "text",
} as const;

function toRow({ message, inbox, conversation, pastStatus }: MessageToInsert, now: Date) {
  const { type, ...parts } = message.content;
  const imported = pastStatus && { imported: true as const };
  const content: StoredContent = {
    ...parts,
    ...message.details,
    ...summaryOf(message.content),
    ...imported,
  };
  const at = pastStatus ? new Date(message.occurred_at) : now;
  return {
    id: newId("msg", at),
    conversation_id: conversation.id,
    type,
    content,
    channel_message_id: message.channel_message_id,
    created_at: at.toISOString(),
    quoted_id: message.reply_to,
    ...(message.is_echo
      ? {
          direction: "outbound" as const,
          from: inbox.phone_number,
          to: senderOf(message.from),
          status: pastStatus ?? ("queued" as const),
          sent_by: recordOf(phoneOf(inbox)),
          sent_at: pastStatus && message.occurred_at,
        }
      : {
          direction: "inbound" as const,
          from: senderOf(message.from),
          to: inbox.phone_number,
          status: "received" as const,
          sent_at: message.occurred_at,
        }),
  };
}
