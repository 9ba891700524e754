/** Broadcasts and their recipients. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table broadcasts (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    inbox_id text collate "C" not null,
    name text not null,
    cohort_id text collate "C" not null,
    template_id text collate "C" not null,
    variable_mapping jsonb not null,
    header_media_url text,
    scheduled_at timestamptz,
    execution_status text not null,
    paused_reason text,
    failure_reason text,
    -- The approved template as it was at the execution.
    template jsonb,
    -- Who executed it.
    executed_by jsonb,
    -- Of the recipients, those that are excluded not counted.
    total integer not null default 0,
    -- Those that were handed to the delivery.
    queued integer not null default 0,
    sent integer not null default 0,
    delivered integer not null default 0,
    read integer not null default 0,
    failed integer not null default 0,
    -- Contacts of the cohort that are no recipients, by reason.
    excluded jsonb not null default '{}',
    -- Null: there are no prices.
    currency text,
    -- Rises with each execution and retry: names the hold of its price.
    runs integer not null default 0,
    started_at timestamptz,
    completed_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id),
    foreign key (organization_id, inbox_id) references inboxes (organization_id, id),
    check (sent + failed <= total and read <= delivered and delivered <= sent)
  )`,
  `create index broadcasts_active on broadcasts (organization_id, cohort_id, template_id)
    where execution_status in ('draft', 'scheduled', 'processing', 'paused')`,

  `create table broadcast_recipients (
    organization_id text collate "C" not null,
    broadcast_id text collate "C" not null,
    contact_id text collate "C" not null,
    -- The number, or the business-scoped id of a contact who hides it. Null: neither, or erased.
    "to" text,
    -- pending; queued: there is a message, which has the status from then on; excluded.
    status text not null,
    reason text,
    country text,
    -- In millionths of the currency's unit. Null: there are no prices.
    price bigint,
    -- The values of the template's variables, by name.
    variables jsonb,
    message_id text collate "C",
    primary key (organization_id, broadcast_id, contact_id),
    foreign key (organization_id, broadcast_id) references broadcasts (organization_id, id) on delete cascade
  )`,
  `create index broadcast_recipients_pending on broadcast_recipients (organization_id, broadcast_id, contact_id)
    where status = 'pending'`,
  // Finds what must be erased with a contact.
  "create index broadcast_recipients_contact on broadcast_recipients (organization_id, contact_id)",

  // Null if the message belongs to no broadcast, or a retry has replaced it.
  `alter table messages add column broadcast_id text collate "C"`,
  `create index messages_broadcast on messages (organization_id, broadcast_id, id) where broadcast_id is not null`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
