/**
 * Teams, routing, assignments, quick replies and contact identities, and the columns that they need in
 * conversations and contacts.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  // Incremented to end all sessions of a user: tokens that were issued with another number are invalid.
  `alter table users add column session_version integer not null default 1`,
  `alter table refresh_tokens add column session_version integer not null default 1`,

  `alter table inboxes add column updated_at timestamptz`,
  `update inboxes set updated_at = created_at`,
  `alter table inboxes alter column updated_at set not null`,
  `create unique index inboxes_phone_number on inboxes (organization_id, phone_number)`,

  `alter table contacts
    add column opted_out boolean not null default false,
    -- Of the identities below the ones that are shown, as phone_number is: the last that a channel told.
    add column bsuid text,
    add column username text`,
  // The identities by which a contact is found. A phone number has the form that all its variants share.
  `create table contact_identities (
    organization_id text collate "C" not null,
    kind text not null check (kind in ('phone', 'wa_id', 'bsuid', 'username')),
    value text not null,
    contact_id text collate "C" not null,
    created_at timestamptz not null,
    primary key (organization_id, kind, value),
    foreign key (organization_id, contact_id) references contacts (organization_id, id) on delete cascade
  )`,
  `create index contact_identities_contact on contact_identities (organization_id, contact_id)`,
  // The variants of one number: Brazil's mobile 9, Argentina's 9, Mexico's 1. If two contacts have variants
  // of the same number, the older contact gets it.
  `insert into contact_identities
    select organization_id, 'phone', case
      when phone_number ~ '^\\+55[1-9][0-9][6-9][0-9]{7}$'
        then substr(phone_number, 1, 5) || '9' || substr(phone_number, 6)
      when phone_number ~ '^\\+549[1-3][0-9]{9}$' then '+54' || substr(phone_number, 5)
      when phone_number ~ '^\\+521[2-9][0-9]{9}$' then '+52' || substr(phone_number, 5)
      else phone_number end, id, created_at
    from contacts where phone_number is not null order by id
    on conflict do nothing`,
  // Replaced by the primary key of contact_identities.
  `drop index contacts_phone_number`,

  // All substrings of one to three characters without spaces, which index the search for parts of a name.
  // Like pg_trgm, but also for short words, and without an extension that a server may not allow. The high
  // cost prevents the planner from computing it for many rows.
  `create function search_grams(text) returns text[]
    language sql immutable strict parallel safe cost 1000
    return array(
      select distinct gram
      from (
        select substr($1, place, size) as gram
        from generate_series(1, length($1)) as place, generate_series(1, 3) as size
      ) as grams
      where strpos(gram, ' ') = 0
    )`,
  // Without fastupdate, because every search would have to read the list of pending entries.
  `create index contacts_search on contacts using gin (search_grams(search_text)) with (fastupdate = off)`,

  `create table teams (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    name text not null,
    description text,
    settings jsonb not null default '{}',
    is_active boolean not null default false,
    tier integer not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id)
  )`,

  `create table team_members (
    organization_id text collate "C" not null,
    team_id text collate "C" not null,
    user_id text collate "C" not null,
    id text collate "C" not null,
    role text not null check (role in ('lead', 'member', 'supervisor')),
    is_available boolean not null,
    -- Null while available.
    unavailable_since timestamptz,
    max_concurrent_chats integer not null check (max_concurrent_chats between 1 and 100),
    -- The open and pending conversations of this team that the user has.
    current_chat_count integer not null default 0 check (current_chat_count >= 0),
    skills text[] not null default '{}',
    -- The place in the round: who has the lowest is next. A number, since two may be chosen at one moment.
    turn bigint not null default 0,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, team_id, user_id),
    foreign key (organization_id, team_id) references teams (organization_id, id) on delete cascade,
    foreign key (organization_id, user_id) references users (organization_id, id)
  )`,
  `create unique index team_members_id on team_members (organization_id, id)`,
  `create index team_members_user on team_members (organization_id, user_id)`,

  `create table routing_policies (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    name text not null,
    description text not null,
    strategy text not null check (strategy in ('round_robin', 'weighted', 'load_balanced', 'skills_based', 'sticky')),
    priority integer not null,
    conditions jsonb not null,
    target_type text not null check (target_type in ('team', 'user')),
    target_id text collate "C",
    settings jsonb not null,
    is_active boolean not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id)
  )`,

  // The state of weighted round robin: each agent's current weight under a policy.
  `create table routing_credits (
    organization_id text collate "C" not null,
    policy_id text collate "C" not null,
    user_id text collate "C" not null,
    credit integer not null,
    primary key (organization_id, policy_id, user_id),
    foreign key (organization_id, policy_id) references routing_policies (organization_id, id) on delete cascade
  )`,

  `alter table conversations
    add column tags text[] not null default '{}',
    -- Its contact was erased: nobody sees it any more, and its messages still count.
    add column erased_at timestamptz,
    add column is_unread boolean not null default false,
    -- Since when the contact has waited for an answer.
    add column waiting_since timestamptz,
    -- Since when it has waited in a team's queue for an agent, and by which policy it came there.
    add column queued_at timestamptz,
    add column policy_id text collate "C"`,
  `update conversations set waiting_since = last_user_message_at
    where last_user_message_at is not null
    and (last_agent_message_at is null or last_agent_message_at < last_user_message_at)`,
  `update conversations set erased_at = contacts.erased_at from contacts
    where contacts.organization_id = conversations.organization_id and contacts.id = conversations.contact_id`,
  `drop index conversations_latest`,
  `create index conversations_latest on conversations (organization_id, last_message_at desc nulls last, id desc)
    where erased_at is null`,
  `create index conversations_status on conversations (organization_id, status, last_message_at desc nulls last, id desc)
    where erased_at is null`,
  `create index conversations_assigned on conversations (organization_id, assigned_to, last_message_at desc nulls last, id desc)
    where erased_at is null`,
  `create index conversations_team on conversations (organization_id, team_id, last_message_at desc nulls last, id desc)
    where erased_at is null`,
  `create index conversations_waiting on conversations (organization_id, waiting_since, id) where erased_at is null`,
  `create index conversations_favorite on conversations (organization_id, last_message_at desc nulls last, id desc)
    where is_favorite and erased_at is null`,
  `create index conversations_unread on conversations (organization_id, last_message_at desc nulls last, id desc)
    where is_unread and erased_at is null`,
  // Covers all organizations, because a GIN index of arrays can't begin with the organization. The query
  // filters the rows by organization afterwards.
  `create index conversations_tags on conversations using gin (tags)`,
  `create index contacts_tags on contacts using gin (tags)`,
  `create index conversations_queue on conversations (organization_id, queued_at, id) where queued_at is not null`,

  `create table assignments (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    conversation_id text collate "C" not null,
    contact_id text collate "C" not null,
    assigned_to text collate "C",
    assigned_by text collate "C",
    assignment_type text not null check (assignment_type in ('manual', 'transfer', 'routing', 'unassign')),
    team_id text collate "C",
    reason text,
    over_capacity boolean not null,
    created_at timestamptz not null,
    primary key (organization_id, id),
    foreign key (organization_id, conversation_id) references conversations (organization_id, id) on delete cascade
  )`,
  `create index assignments_conversation on assignments (organization_id, conversation_id, id desc)`,
  // Finds the agent who served a contact last.
  `create index assignments_contact on assignments (organization_id, contact_id, id desc)`,

  `create table routing_decisions (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    conversation_id text collate "C" not null,
    trigger text not null,
    outcome text not null,
    explanation text not null,
    policy_id text collate "C",
    policy_name text,
    strategy text,
    team_id text collate "C",
    assigned_to text collate "C",
    candidates jsonb not null,
    created_at timestamptz not null,
    primary key (organization_id, id),
    foreign key (organization_id, conversation_id) references conversations (organization_id, id) on delete cascade
  )`,
  `create index routing_decisions_conversation on routing_decisions (organization_id, conversation_id, id desc)`,

  `create table quick_replies (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    short_code text not null,
    content text not null,
    created_by text collate "C",
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id)
  )`,
  `create unique index quick_replies_short_code on quick_replies (organization_id, lower(short_code))`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
