/** Cohorts, and what conditions compare of a contact. */
import { type Kysely, sql } from "kysely";

const statements = [
  `alter table contacts
    -- By the number; null for a number without a country, and without a number.
    add column country text,
    -- The texts whose normalized form differs from the text with small ASCII letters. Null: none does.
    add column normalized jsonb,
    -- The value of updated_at for which both were computed. Another value: by an earlier version, so not at all.
    add column normalized_at timestamptz`,

  `create table cohorts (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    name text not null,
    description text,
    type text not null check (type in ('query', 'csv')),
    csv_url text,
    query jsonb not null,
    contact_count integer not null default 0,
    status text not null check (status in ('building', 'ready', 'failed')),
    -- The file of a csv cohort until it is built.
    upload_id text collate "C",
    -- Rows of the file read so far, the header not counted.
    position integer not null default 0,
    rejected integer not null default 0,
    errors jsonb not null default '[]',
    failure text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id)
  )`,

  // The contacts of csv cohorts.
  `create table cohort_members (
    organization_id text collate "C" not null,
    cohort_id text collate "C" not null,
    contact_id text collate "C" not null,
    primary key (organization_id, cohort_id, contact_id),
    foreign key (organization_id, cohort_id) references cohorts (organization_id, id) on delete cascade,
    foreign key (organization_id, contact_id) references contacts (organization_id, id) on delete cascade
  )`,
  // Finds the cohorts of a contact that is erased.
  "create index cohort_members_contact on cohort_members (organization_id, contact_id)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
