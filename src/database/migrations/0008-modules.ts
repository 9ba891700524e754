/**
 * Erasure by subject, the actor of messages and assignments, and calls to third parties.
 *
 * A subject is the id of a contact or of a conversation. The erasure of a contact uses it to find what to
 * delete in several tables: stored responses, jobs, events and their deliveries.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  `alter table idempotency add column subjects text[] not null default '{}'`,
  `update idempotency set subjects = array(
    select distinct found[1] from regexp_matches(body::text, '"((?:con|conv)_[0-9a-z]{26})"', 'g') as found
  ) where body::text ~ '"(con|conv)_[0-9a-z]{26}"'`,
  // Without the list of pending entries, which every search would have to read.
  "create index idempotency_subjects on idempotency using gin (subjects) with (fastupdate = off)",

  // The subjects that are being erased, from the erasure until their last row is deleted.
  `create table erasures (
    organization_id text collate "C" not null,
    subject text collate "C" not null,
    primary key (organization_id, subject)
  )`,

  `alter table jobs add column subject text collate "C"`,
  `alter table dead_jobs add column subject text collate "C"`,
  `update jobs set subject = payload #>> '{data,conversation_id}'`,
  `update dead_jobs set subject = payload #>> '{data,conversation_id}'`,
  "create index jobs_subject on jobs (subject) where subject is not null",
  "create index dead_jobs_subject on dead_jobs (subject) where subject is not null",

  "create index events_conversation on events (organization_id, conversation_id)",
  "create index webhook_deliveries_event on webhook_deliveries (organization_id, event_id)",

  // Null if the row was written before the actor was recorded, or the message is inbound.
  "alter table messages add column sent_by jsonb",
  "alter table assignments add column assigned_by_type text",

  // Calls to third parties that have no response yet.
  `create table outward_calls (
    organization_id text collate "C" not null,
    credential_id text collate "C" not null,
    route text not null,
    key text not null,
    request_hash text not null,
    operation text not null,
    actor jsonb not null,
    intent jsonb not null,
    -- The call that may end the row; another after it was taken over.
    owner text not null,
    -- The process that makes the call extends it; once it has passed, that process is dead.
    running_until timestamptz not null,
    created_at timestamptz not null,
    primary key (organization_id, credential_id, route, key)
  )`,
  "create index outward_calls_running on outward_calls (running_until)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
