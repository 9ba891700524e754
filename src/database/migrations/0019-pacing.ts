/**
 * The lanes of jobs that have a rate, with the starts of the last second, which the rate is compared with.
 */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`
    create table paced_lanes (
      lane text collate "C" primary key,
      rate_per_second integer not null check (rate_per_second > 0),
      -- When each of the last jobs started, the latest last.
      started_at timestamptz[] not null default '{}'
    )
  `.execute(database);
}
