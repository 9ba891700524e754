/**
 * Extends the index of missed deliveries to deliveries that wait for a retry, for the recovery of deliveries.
 */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`drop index webhook_deliveries_missed`.execute(database);
  await sql`
    create index webhook_deliveries_missed on webhook_deliveries (organization_id, webhook_id, event_id)
      where status in ('failed', 'held') or (status = 'pending' and step > 0)
  `.execute(database);
}
