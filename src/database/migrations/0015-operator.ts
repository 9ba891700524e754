/**
 * The currency and the business hours of an organization, and what the operator sets: its suspension and its
 * limits.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  `alter table organizations
    add column currency text not null default 'USD',
    -- Null: always open.
    add column business_hours jsonb,
    add column default_language text,
    -- Null: not suspended.
    add column suspended_at timestamptz,
    add column suspension_reason text,
    -- Limits that replace those of the settings, by name.
    add column limits jsonb not null default '{}'`,
  // Each process often reads the suspended organizations, and there are few.
  "create index organizations_suspended on organizations (id) where suspended_at is not null",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
