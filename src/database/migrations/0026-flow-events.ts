/** Flows that are triggered by tags of contacts, and by the service window. */
import { type Kysely, sql } from "kysely";

const statements = [
  // The tag that starts the flow when it is added. Null: any tag.
  "alter table flows add column trigger_tag text",

  `create table flow_window_sweeps (
    organization_id text collate "C" primary key references organizations (id),
    -- Windows that were opened until then have been reported as expiring.
    opened_until timestamptz not null
  )`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
