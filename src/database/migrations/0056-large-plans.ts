/**
 * Plans with many targets, and plans that keep files: a job prepares them.
 *
 * A plan that is being prepared has the status `run`, no `ended_at` and a `preparation`, because a process of
 * an earlier version knows no other status with which it does not run the plan.
 */
import { type Kysely, sql } from "kysely";

const statements = [
  // How far a job has prepared the plan; null unless it is being prepared.
  "alter table plans add column preparation json",
  // How many targets the plan will have, and how many are stored; null unless a job prepares them.
  "alter table plans add column total integer",
  "alter table plans add column prepared integer",
  // How many of the stored targets get a message and how many get none; null: they are few, and are counted.
  "alter table plans add column included integer",
  "alter table plans add column excluded integer",
  // The uploads of the files that the plan keeps.
  "alter table plans add column upload_ids text[] not null default '{}'",
  "create index plans_open on plans (organization_id, credential_id) where status = 'ready' or preparation is not null",
  "create index plans_preparing on plans (expires_at) where preparation is not null",
  "create index plan_targets_unusual on plan_targets (organization_id, plan_id, unusual desc, position)",
];

export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of statements) {
    await sql.raw(statement).execute(database);
  }
}
