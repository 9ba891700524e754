/**
 * The accounts of inboxes on a real channel, whether the inboxes can send, and received content of types that
 * are unknown here.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table inbox_accounts (
    organization_id text collate "C" not null,
    inbox_id text collate "C" not null,
    -- The provider's ids, which are not secret.
    phone_number_id text collate "C" not null,
    waba_id text collate "C" not null,
    app_id text collate "C" not null,
    -- Sealed: the access token, the app's secret and the verify token.
    secrets text not null,
    updated_at timestamptz not null,
    primary key (organization_id, inbox_id),
    foreign key (organization_id, inbox_id) references inboxes (organization_id, id) on delete cascade
  )`,
  // Null: messages can be sent.
  `alter table inboxes add column health jsonb`,
  `create table message_originals (
    organization_id text collate "C" not null,
    message_id text collate "C" not null,
    original jsonb not null,
    received_at timestamptz not null,
    primary key (organization_id, message_id)
  )`,
  `create index message_originals_received on message_originals (received_at)`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
