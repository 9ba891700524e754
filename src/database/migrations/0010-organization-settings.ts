/**
 * The organization's settings: its time zone, and the country of phone numbers that are sent without a
 * country code.
 */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`
    alter table organizations
      add column time_zone text not null default 'UTC',
      add column default_country text
  `.execute(database);
}
