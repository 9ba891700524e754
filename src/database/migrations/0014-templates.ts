/** Templates and their review, the simulated review authority, and blocked contacts. */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table templates (
    organization_id text collate "C" not null references organizations (id),
    id text collate "C" not null,
    inbox_id text collate "C" not null,
    name text not null,
    language text not null,
    category text not null,
    status text not null,
    -- What the next submission sends.
    template_data jsonb not null,
    variables jsonb not null,
    -- What the authority has: its category, template_data and variables. Null before the first submission.
    submitted jsonb,
    -- The authority's status of it. Null before the first submission.
    review_status text,
    -- The authority's own word for it.
    raw_status text,
    rejection_reason text,
    quality_rating text,
    external_id text,
    missing_at_authority boolean not null default false,
    -- Since when a submission runs whose outcome is not known.
    submitting_since timestamptz,
    -- When changes of an approved version were submitted, which the authority limits.
    edits_submitted_at jsonb not null default '[]',
    -- Rises with each change: an answer of the authority that was requested before a change is out of date.
    revision integer not null default 0,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (organization_id, id),
    foreign key (organization_id, inbox_id) references inboxes (organization_id, id)
  )`,
  "create unique index templates_name on templates (organization_id, lower(name), language, inbox_id)",
  `create index templates_awaiting_review on templates (organization_id, inbox_id)
    where submitting_since is not null or review_status in ('pending', 'paused')`,

  // All ids have 15 digits, so that they sort as text.
  "create sequence simulator_template_ids start with 100000000000001",
  `create table simulator_templates (
    organization_id text collate "C" not null,
    external_id text collate "C" not null default nextval('simulator_template_ids')::text,
    -- The number of the inbox.
    phone_number text not null,
    name text not null,
    language text not null,
    category text not null,
    status text not null,
    rejection_reason text,
    quality_rating text not null,
    template_data jsonb not null,
    variables jsonb not null,
    pauses integer not null default 0,
    -- Rises with each submission and decision: a review or the end of a pause that was scheduled before is void.
    revision integer not null default 0,
    created_at timestamptz not null,
    primary key (organization_id, external_id)
  )`,
  "create unique index simulator_templates_name on simulator_templates (organization_id, phone_number, name, language)",

  // How the simulated authority decides.
  `create table simulator_reviews (
    organization_id text collate "C" primary key,
    review jsonb not null
  )`,

  "alter table contacts add column blocked_at timestamptz, add column blocked_reason text",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
