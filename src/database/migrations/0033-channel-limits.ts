/**
 * The limits of a real channel: how often it refused a message, how many messages a person may still get, and
 * what a number may send.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  // How often the channel refused the message temporarily.
  `alter table messages add column refusals smallint not null default 0`,
  // When the recipient's quota is complete again after this message; null if it was not sent on a channel
  // with a quota.
  `alter table messages add column quota_full_at timestamptz`,
  // What the provider reports about the number; null if nothing is known.
  `alter table inboxes add column limits jsonb`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
