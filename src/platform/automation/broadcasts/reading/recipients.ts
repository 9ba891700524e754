/**
 * Reads the recipients of a broadcast, by contact, each with the progress of its message.
 *
 * A recipient has the status of its message as soon as the message exists. The messages of a page are read
 * after the page is known, if the filter allows it: otherwise a late page of 100,000 recipients would read
 * the messages of all earlier pages.
 */
import { sql } from "kysely";
import type { ExclusionReason, RecipientStatus } from "../../../../../tools/broadcasts/index.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization, refersTo } from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import type { BroadcastRow } from "../find.ts";

/** The recipients themselves, without their messages. */
export function selectRecipients(db: Queries, { organization_id, id }: BroadcastRow) {
  return ofOrganization(db, organization_id)
    .selectFrom("broadcast_recipients")
    .select(["organization_id", "contact_id", "to", "status", "message_id"])
    .select(sql<ExclusionReason | null>`reason`.as("reason"))
    .where("broadcast_id", "=", id)
    .orderBy("contact_id");
}

/** Adds the names of the recipients, and the progress of their messages. */
export function selectProgress(db: Queries, recipients: ReturnType<typeof selectRecipients>) {
  return db
    .selectFrom(recipients.as("broadcast_recipients"))
    .leftJoin("contacts", (join) => join.on(refersTo("broadcast_recipients.contact_id", "contacts")))
    .leftJoin("messages", (join) => join.on(refersTo("broadcast_recipients.message_id", "messages")))
    .select(["contact_id", "contacts.name as contact_name", "broadcast_recipients.to", "reason"])
    .select(["message_id", "messages.conversation_id"])
    .select(["messages.sent_at", "messages.delivered_at", "messages.read_at", "messages.failed_at"])
    .select(["messages.error", statusOf.as("status")])
    .orderBy("contact_id");
}

/** A message that is being sent is still queued to its sender. */
const statusOf = sql<RecipientStatus>`
  case when broadcast_recipients.status = 'queued' and messages.status <> 'sending' then messages.status
    else broadcast_recipients.status end`;

type Recipient = Tables["broadcast_recipients"];
type Message = Tables["messages"];

interface PageRequest {
  readonly status?: RecipientStatus | undefined;
  readonly page: number;
  readonly per_page: number;
}

export async function listRecipients(db: Queries, broadcast: BroadcastRow, request: PageRequest) {
  const { status, page, per_page } = request;
  const { messages, ...own } = filters(status);
  const [limit, offset] = [per_page, (page - 1) * per_page];
  const recipients = selectRecipients(db, broadcast).$if(own.status !== undefined, (rows) =>
    rows.where("status", "=", own.status ?? "pending"),
  );
  const query =
    messages === undefined
      ? selectProgress(db, recipients.limit(limit).offset(offset))
      : selectProgress(db, recipients)
          // Repeats a condition of the join so that the planner can use the index.
          .where("messages.broadcast_id", "=", broadcast.id)
          .where("messages.status", "in", messages)
          .limit(limit)
          .offset(offset);
  const data = await query.execute();
  return { data, meta: { page, per_page, total: countRecipients(broadcast, status) } };
}

interface Filters {
  readonly status?: Recipient["status"];
  /** Statuses of the recipients' messages. */
  readonly messages?: readonly Message["status"][];
}

/**
 * The conditions that select a status. They use columns, whose statistics the planner has, and not
 * `statusOf`.
 */
function filters(status: RecipientStatus | undefined): Filters {
  if (status === undefined || status === "pending" || status === "excluded") {
    return status === undefined ? {} : { status };
  }
  return { status: "queued", messages: status === "queued" ? ["queued", "sending"] : [status] };
}

/**
 * Counts recipients by the counts of the broadcast, which are exact at every moment: counting the rows would
 * read all messages.
 */
function countRecipients(broadcast: BroadcastRow, status: RecipientStatus | undefined): number {
  const { total, queued, sent, delivered, read, failed } = broadcast;
  const excluded = Object.values(broadcast.excluded as Readonly<Record<string, number>>).reduce(
    (sum, count) => sum + count,
    0,
  );
  const counts: Readonly<Record<RecipientStatus, number>> = {
    pending: total - queued,
    queued: queued - sent - failed,
    sent: sent - delivered,
    delivered: delivered - read,
    read,
    failed,
    excluded,
  };
  return status === undefined ? total + excluded : counts[status];
}
