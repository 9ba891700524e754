/**
 * Plans of calls: what a call would do, frozen until it runs or expires, and the persons whom a plan's
 * messages would go to.
 *
 * The input may contain secrets, and the result of a call may show one, so both are sealed.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table plans (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    -- Raised by each change of what the plan would do.
    version integer not null,
    operation text not null,
    status text not null check (status in ('ready', 'run', 'withdrawn', 'expired', 'lapsed')),
    credential_id text collate "C" not null,
    created_by json not null,
    summary text not null,
    hash text not null,
    -- In millionths of the currency's unit.
    price bigint,
    currency text,
    warnings text[] not null,
    -- The contacts, conversations and addresses that it is about, for their erasure.
    subjects text[] not null,
    -- Sealed: the input and what the operation has frozen.
    content text not null,
    -- Sealed: the response of the operation.
    result text,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    ended_at timestamptz,
    primary key (organization_id, id)
  )`,
  "create index plans_ready on plans (organization_id, credential_id) where status = 'ready'",
  "create index plans_expiring on plans (expires_at) where status = 'ready'",
  "create index plans_ended on plans (ended_at) where ended_at is not null",
  "create index plans_subjects on plans using gin (subjects)",
  `create table plan_targets (
    organization_id text collate "C" not null,
    plan_id text collate "C" not null,
    position integer not null,
    -- Null if the contact does not exist yet.
    contact_id text collate "C",
    "to" text,
    name text,
    -- What the person would read.
    text text not null,
    -- Why the person gets no message; null if the person gets one.
    reason text,
    -- How many of its values are rare among the plan's targets.
    unusual integer not null,
    -- What the operation has frozen for this target.
    frozen json,
    primary key (organization_id, plan_id, position),
    foreign key (organization_id, plan_id) references plans (organization_id, id) on delete cascade
  )`,
  "create index plan_targets_contact on plan_targets (organization_id, contact_id)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
