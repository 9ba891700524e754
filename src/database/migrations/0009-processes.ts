/**
 * The processes that share the database, and which of them has claimed a job.
 *
 * A process of an older version writes no heartbeat, and its claims only increase `claims`. `claimed_by`
 * counts only while `claimed_number` equals `claims`, so a job that an older version claimed keeps its plain
 * lease.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  `create table processes (
    id text collate "C" primary key,
    started_at timestamptz not null,
    heartbeat_at timestamptz not null,
    -- Points that each active credential used of its rate limit, counted since it became active.
    use jsonb not null
  )`,
  `alter table jobs add column claimed_by text collate "C", add column claimed_number integer`,
  "create index jobs_claimed_by on jobs (claimed_by) where claimed_by is not null",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
