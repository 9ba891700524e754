/** When the provider of an inbox's channel last reported to this service. */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table inboxes add column last_webhook_at timestamptz").execute(database);
}
