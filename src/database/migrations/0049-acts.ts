/**
 * The record of acts: one row for each write, refusal, sign-in, act of the operator and call through MCP; and
 * how often each credential read something, by minute.
 *
 * An act of the operator that concerns no organization has the organization "operator", so there is no
 * foreign key.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table acts (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    created_at timestamptz not null,
    agent_type text not null check (agent_type in ('api_key', 'user', 'operator', 'system')),
    agent_id text collate "C" not null,
    agent_name text not null,
    session_id text collate "C",
    operation text not null,
    tool text,
    -- Without secrets and texts; null once a contact that they named was erased.
    arguments jsonb,
    status smallint not null,
    error text,
    duration_ms integer not null,
    -- Of the records that the input and the response name.
    ids text[] not null,
    primary key (organization_id, id)
  )`,
  "create index acts_agent on acts (organization_id, agent_id, id)",
  "create index acts_operator on acts (id) where agent_type = 'operator'",
  "create index acts_ids on acts using gin (ids)",
  // The rows are stored in the order of their time. A b-tree would cost each message one more index entry.
  "create index acts_created on acts using brin (created_at)",
  `create table read_counts (
    organization_id text collate "C" not null,
    minute timestamptz not null,
    agent_type text not null check (agent_type in ('api_key', 'user', 'operator', 'system')),
    agent_id text collate "C" not null,
    agent_name text not null,
    operation text not null,
    count bigint not null,
    primary key (organization_id, minute, agent_id, operation)
  )`,
  "create index read_counts_minute on read_counts (minute)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
