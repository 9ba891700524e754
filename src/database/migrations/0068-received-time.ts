/** When the latest message from the contact was stored, which may be later than it was written. */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`alter table conversations add column last_received_at timestamptz`.execute(database);
}
