/** Links that sign a person in to the console, and what a person sees of the sessions of the console. */
import { type Kysely, sql } from "kysely";

const statements = [
  // No session had the earlier name.
  "alter table console_sessions drop constraint console_sessions_signed_in_by_check",
  `alter table console_sessions add constraint console_sessions_signed_in_by_check
    check (signed_in_by in ('password', 'link'))`,
  // Like 'Firefox on Linux'; null if the browser is unknown.
  "alter table console_sessions add column browser text",
  // A link that was used is deleted.
  `create table sign_in_links (
    organization_id text collate "C" not null references organizations (id),
    hash text collate "C" not null unique,
    user_id text collate "C" not null,
    session_version integer not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (organization_id, hash),
    foreign key (organization_id, user_id) references users (organization_id, id)
  )`,
  "create index sign_in_links_expires on sign_in_links (expires_at)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
