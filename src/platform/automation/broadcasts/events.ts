/** The events of broadcasts that change their state. */
import type { PausedReason } from "../../../../tools/broadcasts/index.ts";
import { columnsOf, type RowOf } from "../../../database/query/index.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";

/** The columns that an event shows. */
export const reportedColumns = columnsOf(
  "broadcasts",
  "organization_id",
  "id",
  "name",
  "execution_status",
  "paused_reason",
  "total",
  "sent",
  "delivered",
  "read",
  "failed",
);

export type ReportedBroadcast = RowOf<typeof reportedColumns>;

const types: Partial<
  Record<ReportedBroadcast["execution_status"], `broadcast.${"started" | "completed" | "cancelled"}`>
> = {
  processing: "broadcast.started",
  completed: "broadcast.completed",
  cancelled: "broadcast.cancelled",
};

/** Reports the new state of a broadcast. `broadcast.not_started` reports the state failed. */
export function emitState(tx: Transaction, broadcast: ReportedBroadcast): void {
  const { organization_id, id: broadcast_id, name, execution_status, paused_reason } = broadcast;
  const data = { broadcast_id, name, stats: statsOf(broadcast) };
  const event = { organization_id, order: broadcast_id };
  if (execution_status === "paused") {
    // Only this module writes the column.
    const reason = paused_reason as PausedReason;
    tx.emit({ ...event, type: "broadcast.paused", data: { ...data, reason } });
  }
  const type = types[execution_status];
  if (type !== undefined) {
    tx.emit({ ...event, type, data });
  }
}

export function statsOf({
  total,
  sent,
  delivered,
  read,
  failed,
}: Pick<ReportedBroadcast, "total" | "sent" | "delivered" | "read" | "failed">) {
  return { total, sent, delivered, read, failed };
}
