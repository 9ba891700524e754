/** Why a queued message has not been sent yet. */
import { type Kysely, sql } from "kysely";

const statements = ["alter table messages add column delay jsonb"];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
