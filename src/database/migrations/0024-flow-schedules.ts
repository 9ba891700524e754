/** Schedules of flows, and their firings. */
import { type Kysely, sql } from "kysely";

const statements = [
  `alter table flows
    add column trigger_schedule text,
    add column trigger_schedule_at timestamptz,
    add column trigger_schedule_timezone text,
    -- The audience of a schedule. Null: the open conversations.
    add column cohort_id text collate "C",
    -- Null: no run is due.
    add column next_run_at timestamptz`,
  `create index flows_cohort on flows (organization_id, cohort_id) where cohort_id is not null`,

  `create table flow_firings (
    organization_id text collate "C" not null,
    id text collate "C" not null,
    flow_id text collate "C" not null,
    due_at timestamptz not null,
    -- running; or completed, stopped (the flow was disabled or changed) or failed, which are final.
    status text not null,
    -- The last contact or conversation of the audience that was taken, in the order of their ids, and the one before its batch.
    after_id text collate "C" not null,
    before_batch_id text collate "C" not null,
    started integer not null,
    created_at timestamptz not null,
    ended_at timestamptz,
    primary key (organization_id, id),
    foreign key (organization_id, flow_id) references flows (organization_id, id) on delete cascade
  )`,
  // Each due time fires once.
  "create unique index flow_firings_due on flow_firings (organization_id, flow_id, due_at)",
  "create unique index flow_firings_running on flow_firings (organization_id, flow_id) where status = 'running'",
  "create index flow_firings_ended on flow_firings (ended_at)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
