/** The trace that a job continues: the W3C `traceparent` of the call that enqueued it, if that was traced. */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`alter table jobs add column traceparent text`.execute(database);
}
