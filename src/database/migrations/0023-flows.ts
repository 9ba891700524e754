/** Automation flows, their versions and their runs. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table flows (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    name text not null,
    description text,
    -- Null: all inboxes.
    inbox_id text collate "C",
    is_enabled boolean not null,
    trigger_type text not null,
    trigger_keyword text,
    trigger_match text,
    trigger_event_type text,
    priority integer not null,
    -- The one that new runs begin with.
    version integer not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id),
    foreign key (organization_id, inbox_id) references inboxes (organization_id, id)
  )`,
  // Read for each message of a contact.
  `create index flows_enabled on flows (organization_id, trigger_type, trigger_event_type) where is_enabled`,

  `create table flow_versions (
    organization_id text collate "C" not null,
    flow_id text collate "C" not null,
    version integer not null,
    nodes jsonb not null,
    end_action_type text not null,
    end_action_config jsonb not null,
    -- Whether a run may wait for a reply.
    is_interactive boolean not null,
    primary key (organization_id, flow_id, version),
    foreign key (organization_id, flow_id) references flows (organization_id, id) on delete cascade
  )`,

  // Also contains runs of deleted flows, so it has no foreign key to flows.
  `create table flow_runs (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    flow_id text collate "C" not null,
    version integer not null,
    conversation_id text collate "C" not null,
    contact_id text collate "C" not null,
    -- running: a job does its next step. waiting: for due_at or a reply. completed, failed and cancelled are final.
    status text not null,
    reason text,
    trigger_type text not null,
    -- What started it, such as the id of a message: it starts each flow once. Null: a call, which has its own key.
    trigger_key text collate "C",
    is_interactive boolean not null,
    -- The latest message of the contact that the run got.
    message_id text collate "C",
    -- The nodes to run, the next one first.
    pending jsonb not null,
    steps integer not null,
    variables jsonb not null,
    wait jsonb,
    due_at timestamptz,
    -- Rises with each wait: what ends an earlier wait is void.
    episode integer not null,
    created_at timestamptz not null,
    ended_at timestamptz,
    primary key (organization_id, id),
    foreign key (organization_id, conversation_id) references conversations (organization_id, id)
  )`,
  `create unique index flow_runs_trigger on flow_runs (organization_id, flow_id, trigger_key)
    where trigger_key is not null`,
  // Only one flow at a time may wait for replies in a conversation.
  `create unique index flow_runs_interactive on flow_runs (organization_id, conversation_id)
    where status in ('running', 'waiting') and is_interactive`,
  `create index flow_runs_active on flow_runs (organization_id, conversation_id)
    where status in ('running', 'waiting')`,
  // Lists the runs of a flow, and finds runs that need an earlier version.
  "create index flow_runs_flow on flow_runs (organization_id, flow_id, id)",
  "create index flow_runs_conversation on flow_runs (organization_id, conversation_id, id)",
  // Counts the runs of the last hour, and finds what must be erased with a contact.
  "create index flow_runs_contact on flow_runs (organization_id, contact_id, created_at)",
  "create index flow_runs_ended on flow_runs (ended_at)",

  `create table flow_run_steps (
    organization_id text collate "C" not null,
    run_id text collate "C" not null,
    number integer not null,
    node_id text not null,
    node_type text not null,
    outcome text not null,
    -- Ids and codes only: no text of the contact.
    detail jsonb not null,
    at timestamptz not null,
    primary key (organization_id, run_id, number),
    foreign key (organization_id, run_id) references flow_runs (organization_id, id) on delete cascade
  )`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
