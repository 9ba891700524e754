/**
 * When the database wrote a heartbeat, by its own clock. `heartbeat_at` is by the clock that the processes
 * share.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  `alter table processes add column written_at timestamptz not null default clock_timestamp()`,
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
