/**
 * Rules of keys and of callers through MCP, and plans that wait for a person.
 *
 * The rules of a key stay when the key is deleted, because the keys that it made are bound by them.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table rule_sets (
    organization_id text collate "C" not null references organizations (id),
    -- The id of a key, 'mcp', or 'organization' for its settings.
    holder text collate "C" not null,
    content jsonb not null,
    changed_by json not null,
    changed_at timestamptz not null,
    primary key (organization_id, holder)
  )`,
  // The holders of the rules that bind what a flow, the bot or a broadcast does later.
  `create table rule_bindings (
    organization_id text collate "C" not null references organizations (id),
    subject text collate "C" not null,
    holders text[] not null,
    primary key (organization_id, subject)
  )`,
  // The holders whose rules bind the key beside its own: the keys by which it was made.
  "alter table api_keys add column rule_holders text[] not null default '{}'",

  "alter table plans add column approval text check (approval in ('awaiting', 'released', 'declined'))",
  // Why a person has to release the plan.
  "alter table plans add column why text[]",
  // The call that was held back: its route, its idempotency key and the hash of its input.
  "alter table plans add column call_route text",
  "alter table plans add column call_key text",
  "alter table plans add column call_hash text",
  // The user who made the call, or who made its key.
  "alter table plans add column asked_for text",
  // Whose rules bound the call: they also bind a key that the run makes.
  "alter table plans add column asked_under text[] not null default '{}'",
  "alter table plans add column decided_by json",
  "alter table plans add column decided_at timestamptz",
  "alter table plans add column decision_reason text",
  `create index plans_calls on plans (organization_id, credential_id, call_route, call_key)
    where call_key is not null`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
