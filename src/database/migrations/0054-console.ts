/** Sessions of the console: a sign-in of a person in a browser, which holds its secret in a cookie. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table console_sessions (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    user_id text collate "C" not null,
    hash text collate "C" not null unique,
    signed_in_by text not null check (signed_in_by in ('password', 'launch')),
    session_version integer not null,
    created_at timestamptz not null,
    last_used_at timestamptz not null,
    -- 12 hours after its last use, and at most 7 days after the sign-in.
    expires_at timestamptz not null,
    ended_at timestamptz,
    primary key (organization_id, id),
    foreign key (organization_id, user_id) references users (organization_id, id)
  )`,
  "create index console_sessions_user on console_sessions (organization_id, user_id)",
  "create index console_sessions_expires on console_sessions (expires_at)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
