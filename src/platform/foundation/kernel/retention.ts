/**
 * Retention: how long rows are kept in tables that would grow without end, and the jobs that delete the rows.
 */
import { withoutStatementLimit } from "../../../database/outage/index.ts";
import { deleteOld } from "../../../database/query/index.ts";
import { deadJobAge } from "../../../jobs/settle.ts";
import { defineScheduledJob, type ModuleJob, type Retention } from "./job.ts";

const dayMs = 24 * 3_600_000;

/** A job that deletes old rows of its module's tables. */
export function defineRetentionJob({
  rules,
  ...job
}: {
  readonly name: string;
  readonly schedule: string;
  readonly rules: readonly Retention[];
}): ModuleJob {
  const scheduled = defineScheduledJob({
    ...job,
    async run({ database, retention, now }) {
      for (const { table, column, days } of rules) {
        const kept = typeof days === "number" ? days : retention[days];
        const before = new Date(now().getTime() - kept * dayMs);
        await withoutStatementLimit(() => deleteOld(database.queries, { table, column, before }));
      }
    },
  });
  return { ...scheduled, retention: rules };
}

export const deleteDeadJobsJob = defineRetentionJob({
  name: "job.forget",
  schedule: "7 * * * *",
  rules: [{ ...deadJobAge, days: "deadJobs" }],
});
