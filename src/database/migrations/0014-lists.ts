/** Indexes for the lists of conversations of one inbox, and of those whose window has expired. */
import { type Kysely, sql } from "kysely";

const statements = [
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
