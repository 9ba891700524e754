/**
 * Webhooks: events, their subscribers, and the state of each delivery.
 *
 * Events and deliveries have no foreign keys: an event is written in the transaction of its cause, and must
 * neither wait for nor lock rows of other tables.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  // Each event is stored once for all webhooks, with the exact bytes of the request body.
  `create table events (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    type text not null,
    body text not null,
    -- Events with the same are told one after the other.
    order_key text not null,
    conversation_id text collate "C" not null,
    -- What tells which events were committed since one looked last: a time can't, what began first may end last.
    transaction_id xid8 not null default pg_current_xact_id(),
    created_at timestamptz not null,
    primary key (organization_id, id)
  )`,
  `create index events_committed on events (organization_id, transaction_id, id)`,
  // Rows are inserted in the order of time, so a BRIN index, the smallest kind of index, finds old rows.
  `create index events_age on events using brin (created_at)`,

  `create table webhooks (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    url text not null,
    events text[] not null,
    description text,
    -- Sealed, as is the one before it.
    secret text not null,
    previous_secret text,
    previous_secret_until timestamptz,
    is_active boolean not null default true,
    disabled_reason text check (disabled_reason in ('gone', 'failing')),
    -- The first failure since the last success.
    failing_since timestamptz,
    created_by text collate "C",
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id)
  )`,

  // One row for each event and webhook, with all attempts.
  `create table webhook_deliveries (
    organization_id text collate "C" not null,
    webhook_id text collate "C" not null,
    event_id text collate "C" not null,
    status text not null check (status in ('pending', 'delivered', 'failed', 'held')),
    -- The try that is to be made now; a job for another turn has nothing to do.
    turn integer not null default 1,
    -- How many tries of the schedule have failed.
    step integer not null default 0,
    attempts jsonb not null default '[]',
    next_try_at timestamptz,
    created_at timestamptz not null,
    primary key (organization_id, webhook_id, event_id)
  )`,
  `create index webhook_deliveries_missed on webhook_deliveries (organization_id, webhook_id, event_id)
    where status in ('failed', 'held')`,
  `create index webhook_deliveries_age on webhook_deliveries using brin (created_at)`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
