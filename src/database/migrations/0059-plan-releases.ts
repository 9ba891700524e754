/** Plans that the user of a client confirms, and plans that are released for a time. */
import { type Kysely, sql } from "kysely";

const statements = [
  // Whether the user of the client may confirm a plan that waits, instead of a person who releases it.
  "alter table plans add column confirmable boolean not null default false",
  // Identifies the confirmation that was asked for last; null: none that may still be given.
  "alter table plans add column confirmation text",
  // When the run of a released plan begins. Such a plan is stored as one that waits, because a process of an
  // earlier version would let a key run it.
  "alter table plans add column run_at timestamptz",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
