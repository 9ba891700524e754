/** The job that records that plans have expired. */
import { columnsOf, rowsOf } from "../../../database/query/index.ts";
import { defineScheduledJob, type Transaction } from "../../foundation/kernel/index.ts";
import { emitPlanEvent } from "./events.ts";
import { removeFiles } from "./store.ts";

/** Plans of a transaction. */
const batchSize = 500;

export const expirePlansJob = defineScheduledJob({
  name: "plan.expire",
  schedule: "*/5 * * * *",

  async run({ database, now }) {
    const time = now().toISOString();
    let count = batchSize;
    while (count === batchSize) {
      count = await database.transaction((tx) => expireBatch(tx, time));
    }
  },
});

async function expireBatch(tx: Transaction, time: string): Promise<number> {
  const { rows } = await rowsOf(columnsOf("plans", "organization_id", "id", "operation", "upload_ids"))`
    update plans set status = 'expired', ended_at = expires_at, preparation = null
    where (organization_id, id) in (
      select organization_id, id from plans
      where (status = 'ready' and expires_at <= ${time}) or (preparation is not null and expires_at <= ${time})
      order by expires_at limit ${batchSize} for update skip locked
    )
    returning organization_id, id, operation, upload_ids
  `.execute(tx);
  for (const plan of rows) {
    await removeFiles({ tx, organization: plan.organization_id }, plan);
    emitPlanEvent(tx, "plan.expired", plan);
  }
  return rows.length;
}
