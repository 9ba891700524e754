/** The secret headers of flows, stored separately from their graphs. */
import { type Kysely, sql } from "kysely";

const statements = [
  // The secrets of one version: a run uses the secrets of the version that it began with.
  `create table flow_secrets (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    flow_id text collate "C" not null,
    version integer not null,
    node_id text collate "C" not null,
    -- In lower case.
    header text collate "C" not null,
    -- Sealed.
    value text not null,
    primary key (organization_id, id),
    foreign key (organization_id, flow_id, version) references flow_versions (organization_id, flow_id, version)
      on delete cascade
  )`,
  `create unique index flow_secrets_header on flow_secrets (organization_id, flow_id, version, node_id, header)`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
