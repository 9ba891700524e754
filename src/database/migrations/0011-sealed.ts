/** An index on the stored responses that are encrypted: each start reads them. */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`
    create index idempotency_sealed on idempotency (organization_id, credential_id, route, key)
    where json_typeof(body) = 'string'
  `.execute(database);
}
