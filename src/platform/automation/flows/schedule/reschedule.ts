/** Computes the next time of a schedule, and enqueues the job that fires it. */
import { z } from "zod";
import { ofOrganization } from "../../../../database/query/index.ts";
import { type JobType, newJob } from "../../../../jobs/job.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import type { FlowRow } from "../definitions/find.ts";
import { nextTime } from "./next-time.ts";

export interface Firing {
  readonly organization_id: string;
  readonly flow_id: string;
  readonly due_at: string;
}

export const fireJobType = {
  name: "flow.fire",
  payload: z.object({ organization_id: z.string(), flow_id: z.string(), due_at: z.string() }),
} satisfies JobType<Firing>;

type ScheduledFlow = Pick<
  FlowRow,
  "is_enabled" | "trigger_type" | "trigger_schedule" | "trigger_schedule_at" | "trigger_schedule_timezone"
>;

/** The next time after `after` when the schedule starts the flow; null if there is none. */
export function nextRunAfter(flow: ScheduledFlow, after: Date): Date | null {
  const { is_enabled, trigger_type, trigger_schedule, trigger_schedule_at } = flow;
  if (!is_enabled || trigger_type !== "schedule") {
    return null;
  }
  if (trigger_schedule !== null) {
    return nextTime(trigger_schedule, flow.trigger_schedule_timezone ?? "UTC", after);
  }
  const at = trigger_schedule_at === null ? null : new Date(trigger_schedule_at);
  return at && at > after ? at : null;
}

/** The flow must be locked. A job for another time than `next_run_at` does nothing. */
export async function reschedule(
  { tx, now }: { readonly tx: Transaction; readonly now: Date },
  flow: FlowRow,
): Promise<string | null> {
  const { organization_id, id: flow_id } = flow;
  const next = nextRunAfter(flow, now);
  const next_run_at = next?.toISOString() ?? null;
  if (next_run_at === null && flow.next_run_at === null) {
    return null;
  }
  await ofOrganization(tx, organization_id)
    .updateTable("flows")
    .set({ next_run_at })
    .where("id", "=", flow_id)
    .execute();
  if (next && next_run_at !== null) {
    const payload = { organization_id, flow_id, due_at: next_run_at };
    await tx.enqueue([newJob(fireJobType, payload, { runAt: next })]);
  }
  return next_run_at;
}
