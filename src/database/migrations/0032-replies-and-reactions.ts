/**
 * What a message quotes, its reactions, when its sender changed or deleted it, and since when a consent has
 * been valid.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  // In the same conversation. There is no foreign key: the quoted message is never deleted before its
  // conversation.
  `alter table messages
    add column reply_to text collate "C",
    add column reactions jsonb,
    add column edited_at timestamptz,
    add column deleted_at timestamptz`,
  // Null if the consent was never changed, or changed by an earlier version.
  `alter table contacts add column consent_at timestamptz`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
