/** Adds jobs to the table. */
import { sql } from "kysely";
import type { DatabaseTransaction } from "../database/database.ts";
import { newId } from "../database/id.ts";
import { columnsOf, matchesKey, recordset, rowsOf } from "../database/query/index.ts";
import type { NewJob } from "./job.ts";
import { storedLane } from "./priority.ts";

/** Inserts any number of jobs with one statement. */
export async function insertJobs(tx: DatabaseTransaction, jobs: readonly NewJob[], now: Date): Promise<void> {
  const rows = jobs.map(({ id, name, lane, key, organization_id, payload, runAt = now, ...rest }) => ({
    id: id ?? newId("job", now),
    lane: storedLane(lane || defaultLane(name, organization_id), rest.priority ?? "normal"),
    name,
    key,
    organization_id,
    payload,
    run_at: runAt.toISOString(),
    subject: rest.subject,
    traceparent: rest.traceparent,
  }));
  // A JSON null arrives as an SQL null.
  await sql`
    insert into jobs (id, name, lane, key, organization_id, payload, run_at, subject, traceparent, created_at)
    select id, name, lane, key, organization_id, coalesce(payload, 'null'), run_at, subject, traceparent, ${now.toISOString()}::timestamptz
    from ${recordset("row", newColumns, rows)}
  `.execute(tx);
}

const newColumns = columnsOf(
  "jobs",
  "id",
  "name",
  "lane",
  "key",
  "organization_id",
  "payload",
  "run_at",
  "subject",
  "traceparent",
);

/** All jobs of a default lane are of one organization, which the claim relies on. */
function defaultLane(name: string, organization: string | null): string {
  return organization === null ? name : `${name}:${organization}`;
}

/**
 * Returns the jobs without deduplicated jobs that are waiting already. The waiting rows are locked until the
 * commit, so that they can't start before it. A row that is being claimed is locked already, and does not
 * count as waiting.
 */
export async function withoutDuplicates(
  tx: DatabaseTransaction,
  jobs: readonly NewJob[],
  now: Date,
): Promise<NewJob[]> {
  const candidates = jobs.filter(({ isDeduplicated, key }) => isDeduplicated && key !== undefined);
  if (candidates.length === 0) {
    return [...jobs];
  }
  const wanted = candidates.map(({ key, payload }, position) => ({ position, key, payload }));
  const columns = { position: "integer", ...columnsOf("jobs", "key", "payload") } as const;
  const keys = candidates.flatMap(({ key }) => key ?? []);
  const { rows } = await rowsOf({ position: "integer" })`
    select wanted.position
    from ${recordset("wanted", columns, wanted)}
    join jobs on ${matchesKey("jobs.key", "wanted.key", keys)} and jobs.payload = coalesce(wanted.payload, 'null')
    where claims = 0 and run_at <= ${now.toISOString()}::timestamptz
    for share of jobs skip locked
  `.execute(tx);
  const duplicates = new Set(rows.map(({ position }) => candidates[position]));
  return jobs.filter((job) => !duplicates.has(job));
}
