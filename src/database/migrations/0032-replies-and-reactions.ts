/** What a message quotes, the reactions to it, and when its sender changed or deleted it; since when a consent holds. */
import { type Kysely, sql } from "kysely";

const statements = [
  // Of the same conversation. Without a foreign key: the quoted message is never deleted before its conversation.
  `alter table messages
    add column reply_to text collate "C",
    add column reactions jsonb,
    add column edited_at timestamptz,
    add column deleted_at timestamptz`,
  // Null: never changed, or by an earlier version.
  `alter table contacts add column consent_at timestamptz`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
