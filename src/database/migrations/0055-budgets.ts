/** What is used of budgets, and which budgets count the messages of a broadcast. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table budget_uses (
    organization_id text collate "C" not null references organizations (id),
    -- The id of a key, 'mcp' or 'organization'.
    holder text collate "C" not null,
    -- A day or a month in the time zone of the organization, like 2026-06-01 or 2026-06.
    period text collate "C" not null,
    ends_at timestamptz not null,
    message_count bigint not null,
    contact_count bigint not null,
    -- In millionths of the currency's unit.
    spend bigint not null,
    simulated_spend bigint not null,
    primary key (organization_id, holder, period)
  )`,
  "create index budget_uses_ends_at on budget_uses (ends_at)",
  // The holders of the budgets that count its messages, beside the organization.
  "alter table broadcasts add column budget_holders text[] not null default '{}'",
  // Whether a person has executed, resumed or released it: then no budget pauses it.
  "alter table broadcasts add column exceeds_budgets boolean not null default false",
  // The budget that paused it last.
  "alter table broadcasts add column paused_budget json",
  // The budget that held the act back.
  "alter table acts add column budget json",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
