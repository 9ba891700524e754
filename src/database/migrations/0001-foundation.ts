/**
 * The first tables: organizations and their users, credentials, contacts, conversations, messages, jobs, and
 * the messages of the simulated channel.
 *
 * PostgreSQL 15 dialect, the same on both engines. The organization comes first in every key of a tenant's
 * table, so that no query crosses tenants. Ids are text that sorts by time, compared byte by byte.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table settings (
    name text primary key,
    value text not null
  )`,

  `create table organizations (
    id text collate "C" primary key,
    name text not null,
    created_at timestamptz not null
  )`,

  `create table users (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    email text not null,
    name text not null,
    role text not null check (role in ('owner', 'admin', 'supervisor', 'agent')),
    password_hash text not null,
    is_active boolean not null default true,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id)
  )`,
  // Finds the user at sign-in. An e-mail address belongs to one user in all organizations.
  `create unique index users_email on users (lower(email))`,

  `create table api_keys (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    name text not null,
    prefix text not null,
    hash text not null,
    scopes text[] not null,
    created_by text collate "C",
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz,
    primary key (organization_id, id)
  )`,
  // Finds the key, and so the organization, by the hash of the secret.
  `create unique index api_keys_hash on api_keys (hash)`,

  `create table refresh_tokens (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    user_id text collate "C" not null,
    family_id text collate "C" not null,
    hash text not null,
    family_expires_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz not null,
    primary key (organization_id, id),
    foreign key (organization_id, user_id) references users (organization_id, id)
  )`,
  `create unique index refresh_tokens_hash on refresh_tokens (hash)`,
  `create index refresh_tokens_family on refresh_tokens (organization_id, family_id)`,

  `create table idempotency (
    organization_id text collate "C" not null,
    credential_id text collate "C" not null,
    route text not null,
    key text not null,
    request_hash text not null,
    status integer,
    -- Not jsonb, which puts the members in another order: a repeated answer is the same to the letter.
    body json,
    created_at timestamptz not null,
    primary key (organization_id, credential_id, route, key)
  )`,
  `create index idempotency_age on idempotency (created_at)`,

  `create table inboxes (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    name text not null,
    channel text not null,
    platform text not null,
    phone_number text not null,
    settings jsonb not null default '{}',
    created_at timestamptz not null,
    primary key (organization_id, id)
  )`,

  `create table contacts (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    phone_number text,
    name text,
    -- Name and number as a search compares them: without accents, in small letters.
    search_text text not null default '',
    tags text[] not null default '{}',
    metadata jsonb not null default '{}',
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- Erased: the profile is gone, the row stays for what counts by it.
    erased_at timestamptz,
    primary key (organization_id, id)
  )`,
  `create unique index contacts_phone_number on contacts (organization_id, phone_number)`,

  `create table conversations (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    inbox_id text collate "C" not null,
    contact_id text collate "C" not null,
    status text not null check (status in ('open', 'pending', 'closed', 'snoozed', 'spam')),
    snoozed_until timestamptz,
    last_message_at timestamptz,
    last_user_message_at timestamptz,
    last_agent_message_at timestamptz,
    is_favorite boolean not null default false,
    assigned_to text collate "C",
    team_id text collate "C",
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id),
    foreign key (organization_id, inbox_id) references inboxes (organization_id, id),
    foreign key (organization_id, contact_id) references contacts (organization_id, id) on delete cascade
  )`,
  `create unique index conversations_thread on conversations (organization_id, contact_id, inbox_id)`,
  `create index conversations_latest on conversations (organization_id, last_message_at desc nulls last, id desc)`,

  `create table messages (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    conversation_id text collate "C" not null,
    direction text not null check (direction in ('outbound', 'inbound')),
    type text not null,
    content jsonb not null,
    "from" text,
    "to" text,
    status text not null check (status in ('queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'received')),
    channel_message_id text,
    claimed_at timestamptz,
    sent_at timestamptz,
    delivered_at timestamptz,
    read_at timestamptz,
    failed_at timestamptz,
    error jsonb,
    created_at timestamptz not null,
    primary key (organization_id, id),
    foreign key (organization_id, conversation_id) references conversations (organization_id, id) on delete cascade
  )`,
  `create index messages_conversation on messages (organization_id, conversation_id, id desc)`,
  `create unique index messages_channel on messages (organization_id, channel_message_id)`,

  `create table message_receipts (
    organization_id text collate "C" not null,
    message_id text collate "C" not null,
    type text not null check (type in ('sent', 'delivered', 'read', 'failed')),
    occurred_at timestamptz not null,
    error jsonb,
    primary key (organization_id, message_id, type)
  )`,

  // Receipts that arrived before their message. They are applied when the message exists, and deleted after 7
  // days.
  `create table parked_receipts (
    organization_id text collate "C" not null,
    channel_message_id text not null,
    type text not null,
    occurred_at timestamptz not null,
    error jsonb,
    parked_at timestamptz not null,
    primary key (organization_id, channel_message_id, type)
  )`,

  `create table jobs (
    id text collate "C" primary key,
    name text not null,
    lane text collate "C" not null,
    key text collate "C",
    organization_id text collate "C",
    payload jsonb not null,
    run_at timestamptz not null,
    attempts integer not null default 0,
    -- How often it was taken; it only rises, so the number proves whose it is.
    claims integer not null default 0,
    schedule text unique,
    created_at timestamptz not null
  )`,
  // Does not contain the id, so that equal entries are stored once, and the planner never searches this index
  // for an id.
  `create index jobs_ready on jobs (lane, run_at)`,
  `create index jobs_key on jobs (key, id) where key is not null`,

  `create table dead_jobs (
    id text collate "C" primary key,
    name text not null,
    lane text not null,
    key text,
    organization_id text collate "C",
    payload jsonb not null,
    attempts integer not null,
    error text not null,
    created_at timestamptz not null,
    died_at timestamptz not null
  )`,

  `create table simulator_messages (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    token text not null,
    phone_number text not null,
    direction text not null,
    content jsonb not null,
    status text not null,
    created_at timestamptz not null,
    primary key (organization_id, id)
  )`,
  // Not unique: a message that is sent twice must appear twice.
  `create index simulator_messages_token on simulator_messages (organization_id, token)`,
  `create index simulator_messages_phone on simulator_messages (organization_id, phone_number, id)`,

  `create table simulator_faults (
    organization_id text collate "C" primary key,
    faults jsonb not null
  )`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
