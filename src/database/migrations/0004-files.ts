/** Uploads, whose bytes are in the file store, and imports of contacts. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table uploads (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    -- Where it is in the store, unguessable: of our making, and never the name that its sender gave it.
    key text not null,
    -- Arriving from before the first byte: so nothing is in the store that no row tells of.
    status text not null default 'arriving' check (status in ('arriving', 'kept')),
    file_name text not null,
    content_type text not null,
    file_size integer,
    sha256 text,
    is_public boolean not null,
    created_at timestamptz not null,
    primary key (organization_id, id)
  )`,
  `create unique index uploads_key on uploads (organization_id, key)`,
  `create index uploads_arriving on uploads (created_at) where status = 'arriving'`,

  `create table imports (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    status text not null check (status in ('queued', 'running', 'done', 'failed')),
    upload_id text collate "C",
    url text,
    -- Records that were read and are done with: where it goes on after a crash.
    position integer not null default 0,
    created integer not null default 0,
    updated integer not null default 0,
    rejected integer not null default 0,
    errors jsonb not null default '[]',
    failure text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    finished_at timestamptz,
    primary key (organization_id, id)
  )`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
