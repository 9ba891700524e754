/** Indexes by age on tables from which old rows are deleted. BRIN: their rows are inserted in the order of time. */
import { type Kysely, sql } from "kysely";

const statements = [
  "create index routing_decisions_age on routing_decisions using brin (created_at)",
  "create index assignments_age on assignments using brin (created_at)",
  "create index message_receipts_age on message_receipts using brin (occurred_at)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
