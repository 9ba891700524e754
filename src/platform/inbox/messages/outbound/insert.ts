/** Stores new outbound messages. */
import { sql } from "kysely";
import { columnsOf, type InputRow, recordset } from "../../../../database/query/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";

const newColumns = columnsOf(
  "messages",
  "organization_id",
  "id",
  "conversation_id",
  "type",
  "content",
  "from",
  "to",
  "sent_by",
  "charge",
  "broadcast_id",
  "created_at",
  "reply_to",
);

/** Inserts messages that wait for their delivery, with one statement. */
export async function insertMessages(
  tx: Transaction,
  messages: readonly InputRow<typeof newColumns>[],
): Promise<void> {
  await sql`
    insert into messages (organization_id, id, conversation_id, direction, type, content, "from", "to", status, sent_by,
      charge, broadcast_id, created_at, reply_to)
    select organization_id, id, conversation_id, 'outbound', type, content, "from", "to", 'queued', sent_by,
      charge, broadcast_id, created_at, reply_to
    from ${recordset("message", newColumns, messages)}
  `.execute(tx);
}
