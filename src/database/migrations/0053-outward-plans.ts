/**
 * Runs of plans whose operation calls a third party: the intent is committed with the plan, and the call is
 * made after it.
 *
 * A plan whose call runs has the status `run` and no `ended_at`, because a process of an earlier version
 * knows no other status after which it does not run the plan.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  // Sealed: what the operation has committed to call with, and for whom; null unless its call runs.
  "alter table plans add column intent text",
  // The process that makes the call, and until when it counts as running.
  "alter table plans add column run_owner text",
  "alter table plans add column running_until timestamptz",
  // The status of the third party's call, which is an error from 400; null: the operation's own.
  "alter table plans add column result_status integer",
  "create index plans_running on plans (running_until) where running_until is not null",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
