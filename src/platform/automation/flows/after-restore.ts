/** Ends the runs of a restored installation, because their next steps may have been made after the backup. */
import { columnsOf, rowsOf } from "../../../database/query/index.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";
import { reschedule } from "./schedule/index.ts";

/** Cancels all active runs, and lets schedules go on with their next time, in all organizations. */
export async function cancelRestoredRuns(
  tx: Transaction,
  now: Date,
): Promise<readonly { readonly organization_id: string; readonly id: string }[]> {
  const { rows } = await rowsOf(columnsOf("flow_runs", "organization_id", "id"))`
    update flow_runs set status = 'cancelled', reason = 'restored', pending = '[]', wait = null, due_at = null,
      ended_at = ${now.toISOString()}::timestamptz
    where status in ('running', 'waiting')
    returning organization_id, id
  `.execute(tx);
  await tx
    .updateTable("flow_firings")
    .set({ status: "stopped", ended_at: now.toISOString() })
    .where("status", "=", "running")
    .execute();
  const scheduled = await tx
    .selectFrom("flows")
    .selectAll()
    .where("next_run_at", "is not", null)
    .forNoKeyUpdate()
    .execute();
  for (const flow of scheduled) {
    await reschedule({ tx, now }, flow);
  }
  return rows;
}
