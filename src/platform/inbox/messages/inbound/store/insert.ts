/** The row of a message that was received, or that the owner sent from the phone, now or in the past. */

import { newId } from "../../../../../database/id.ts";
import { ofOrganization } from "../../../../../database/query/index.ts";
import type { StoredContent } from "../../../../../database/schema/index.ts";
import type { PastMessage } from "../../../../../ports/channel/received.ts";
import { recordOf, type Transaction } from "../../../../foundation/kernel/index.ts";
import { senderOf } from "../../../contacts/index.ts";
import { summaryOf } from "../../wording/index.ts";
import { type MessageToStore, phoneOf, type StoredMessage } from "./message.ts";

interface MessageTarget {
  readonly organization: string;
  readonly inbox: StoredMessage["inbox"];
  readonly conversation: { readonly id: string };
  readonly now: Date;
  /** The status of a message of the time before the inbox was connected: it has the place of its own time. */
  readonly pastStatus?: PastMessage["status"];
}

/** Returns the new message's id; undefined if the message exists. */
export async function insertMessage(
  tx: Transaction,
  message: MessageToStore["message"],
  { organization, inbox, conversation, now, pastStatus }: MessageTarget,
): Promise<string | undefined> {
  const { type, ...parts } = message.content;
  const imported = pastStatus && { imported: true as const };
  const content: StoredContent = {
    ...parts,
    ...message.details,
    ...summaryOf(message.content),
    ...imported,
  };
  const at = pastStatus ? new Date(message.occurred_at) : now;
  const inserted = await tx
    .insertInto("messages")
    .values({
      organization_id: organization,
      id: newId("msg", at),
      conversation_id: conversation.id,
      type,
      content: JSON.stringify(content),
      channel_message_id: message.channel_message_id,
      ...(message.is_echo
        ? {
            direction: "outbound",
            from: inbox.phone_number,
            to: senderOf(message.from),
            status: pastStatus ?? "queued",
            sent_by: JSON.stringify(recordOf(phoneOf(inbox))),
            ...(pastStatus && { sent_at: message.occurred_at }),
          }
        : {
            direction: "inbound",
            from: senderOf(message.from),
            to: inbox.phone_number,
            status: "received",
            sent_at: message.occurred_at,
          }),
      created_at: at.toISOString(),
      reply_to: message.reply_to ? quotedId(tx, message.reply_to, { organization, conversation }) : null,
    })
    .onConflict((conflict) => conflict.columns(["organization_id", "channel_message_id"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  return inserted?.id;
}

/** As part of the statement: null if the quoted message is of another conversation, or unknown. */
function quotedId(
  tx: Transaction,
  reply_to: string,
  { organization, conversation }: Pick<MessageTarget, "organization" | "conversation">,
) {
  return ofOrganization(tx, organization)
    .selectFrom("messages")
    .select("id")
    .where("channel_message_id", "=", reply_to)
    .where("conversation_id", "=", conversation.id);
}
