/** Kinds of addresses of any channel, and channels that are asked for what they have received. */
import { type Kysely, sql } from "kysely";

const statements = [
  "alter table contact_identities drop constraint if exists contact_identities_kind_check",
  // In the provider's form: where the next page of updates begins.
  `alter table inbox_accounts add column poll_cursor text collate "C"`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
