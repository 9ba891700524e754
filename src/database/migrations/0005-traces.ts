/** The trace that a job goes on with: a W3C `traceparent`, where its adder was traced. */
import { type Kysely, sql } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`alter table jobs add column traceparent text`.execute(database);
}
