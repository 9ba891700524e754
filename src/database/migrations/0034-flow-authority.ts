/** The scopes with which a flow was saved, and the user whose role limits it. */
import { type Kysely, sql } from "kysely";

const statements = [
  // Null if the flow was saved before scopes were stored.
  `alter table flows add column scopes text[]`,
  // The user who saved the flow, or who created the key that saved it; null for a key that no user created.
  `alter table flows add column creator_id text collate "C"`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
