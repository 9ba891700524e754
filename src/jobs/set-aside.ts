/** Moves waiting jobs to the dead-letter queue, whatever they are. */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseTransaction } from "../database/database.ts";
import { nullable, rowsOf } from "../database/query/index.ts";

export interface AsideJob {
  readonly name: string;
  readonly id: string;
  readonly organization_id: string | null;
}

/** All waiting jobs except those with these names, and except the schedules of the service. */
export async function setJobsAside(
  tx: DatabaseTransaction,
  {
    keptNames,
    error,
    now,
  }: { readonly keptNames: readonly string[]; readonly error: string; readonly now: Date },
): Promise<readonly AsideJob[]> {
  const { rows } = await rowsOf({ name: "text", id: "text", organization_id: nullable("text") })`
    with dead as (
      delete from jobs where schedule is null and name <> all(${keptNames}::text[]) returning *
    )
    insert into dead_jobs (id, name, lane, key, organization_id, subject, payload, attempts, error, created_at, died_at)
    select id, name, lane, key, organization_id, subject, payload, attempts, ${error}, created_at, ${time(now)}
    from dead
    returning name, id, organization_id
  `.execute(tx);
  return rows;
}

const time = (now: Date): RawBuilder<unknown> => sql`${now.toISOString()}::timestamptz`;
