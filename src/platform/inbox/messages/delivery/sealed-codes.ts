/** The one-time codes of messages that are still to be sent. */
import { sql } from "kysely";
import type { SealedColumn } from "../../../foundation/sealing/index.ts";
import { deliverMessageJob } from "./deliver.ts";

/**
 * Only a message with a delivery needs its code. The deliveries are few beside the messages: without them a
 * start would read all messages. Those of broadcasts, which are the bulk jobs, have no codes.
 */
export const sealedCodes: SealedColumn = {
  table: "messages",
  column: "content",
  member: "sealed_code",
  key: ["organization_id", "id"],
  rows: () => sql`(messages.organization_id, messages.id) in (
    select payload ->> 'organization_id', payload ->> 'message_id' from jobs
    where name = ${deliverMessageJob.name} and lane < '~'
  )`,
  // The message fails when it is to be sent, and says that a new code is needed.
  whenLost: "keep",
};
