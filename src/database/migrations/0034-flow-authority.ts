/** The scopes under which a flow was saved, and the user within whose role it acts. */
import { type Kysely, sql } from "kysely";

const statements = [
  // Null: the flow was saved before they were stored.
  `alter table flows add column scopes text[]`,
  // The user who saved it, or who created the key that did; null: a key that no user created.
  `alter table flows add column creator_id text collate "C"`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
