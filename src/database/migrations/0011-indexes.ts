/** Indexes for the sealed values, for rows that are deleted by age, and for lists of conversations. */
import { type Kysely, sql } from "kysely";

const statements = [
  // Each start reads the encrypted stored responses.
  `create index idempotency_sealed on idempotency (organization_id, credential_id, route, key)
    where json_typeof(body) = 'string'`,
  // BRIN, because rows are inserted in the order of time.
  "create index routing_decisions_age on routing_decisions using brin (created_at)",
  "create index assignments_age on assignments using brin (created_at)",
  "create index message_receipts_age on message_receipts using brin (occurred_at)",
  // For the lists of one inbox, and of conversations whose window has expired.
  `create index conversations_inbox on conversations (organization_id, inbox_id, last_message_at desc nulls last, id desc)
    where erased_at is null`,
  `create index conversations_user_message on conversations (organization_id, last_user_message_at)
    where erased_at is null`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
