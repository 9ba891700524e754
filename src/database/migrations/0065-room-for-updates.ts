/**
 * Leaves room on the pages of messages for the new versions of their rows: each message is updated three or
 * four times within seconds. A new version on the same page needs no new index entries and replaces the old
 * version without a vacuum.
 */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  // For pages that are filled from now on.
  await sql`alter table messages set (fillfactor = 70)`.execute(database);
  await sql`alter table simulator_messages set (fillfactor = 70)`.execute(database);
}
