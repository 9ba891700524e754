/** Lists the recipients of a broadcast, each with the progress of its message. */
import { sql } from "kysely";
import type { ExclusionReason, RecipientStatus } from "../../../../tools/broadcasts/index.ts";
import type { Queries } from "../../../database/database.ts";
import { readPage, refersTo } from "../../../database/query/index.ts";

interface RecipientFilter {
  readonly organization: string;
  readonly broadcast_id: string;
  readonly status?: RecipientStatus | undefined;
}

/** By contact; `status` is the recipient's or, once there is a message, the message's. */
export function selectRecipients(db: Queries, { organization, broadcast_id, status }: RecipientFilter) {
  return db
    .selectFrom("broadcast_recipients")
    .leftJoin("messages", (join) => join.on(refersTo("broadcast_recipients.message_id", "messages")))
    .select(["contact_id", "broadcast_recipients.to", "message_id", "messages.conversation_id"])
    .select([
      "messages.sent_at",
      "messages.delivered_at",
      "messages.read_at",
      "messages.failed_at",
      "messages.error",
    ])
    .select([statusOf.as("status"), sql<ExclusionReason | null>`reason`.as("reason")])
    .where("broadcast_recipients.organization_id", "=", organization)
    .where("broadcast_recipients.broadcast_id", "=", broadcast_id)
    .$if(status !== undefined, (rows) => rows.where(statusOf, "=", status ?? "pending"))
    .orderBy("contact_id");
}

/** A message that is being sent is still queued to its sender. */
const statusOf = sql<RecipientStatus>`
  case when broadcast_recipients.status = 'queued' and messages.status <> 'sending' then messages.status
    else broadcast_recipients.status end`;

export async function listRecipients(
  db: Queries,
  { page, per_page, ...filter }: RecipientFilter & { readonly page: number; readonly per_page: number },
) {
  const { rows, meta } = await readPage(selectRecipients(db, filter), { page, per_page });
  return { data: rows, meta };
}
