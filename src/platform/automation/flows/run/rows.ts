/** Reads, locks and writes the rows of runs. */
import type { Selectable } from "kysely";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { FlowStepDetail, Tables } from "../../../../database/schema/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import type { RunState } from "./machine.ts";

export type RunRow = Selectable<Tables["flow_runs"]>;

/** What identifies a run in jobs. */
export interface RunKey {
  readonly organization_id: string;
  readonly conversation_id: string;
  readonly contact_id: string;
  readonly run_id: string;
}

export function keyOf({
  organization_id,
  conversation_id,
  contact_id,
  id,
}: Pick<RunRow, "organization_id" | "conversation_id" | "contact_id" | "id">): RunKey {
  return { organization_id, conversation_id, contact_id, run_id: id };
}

/** Locks a run until the commit. Lock its conversation first, like all code that changes both. */
export async function lockRun(
  tx: Transaction,
  { organization_id, run_id }: RunKey,
): Promise<RunRow | undefined> {
  return ofOrganization(tx, organization_id)
    .selectFrom("flow_runs")
    .selectAll()
    .where("id", "=", run_id)
    .forUpdate()
    .executeTakeFirst();
}

/** The active runs of a conversation. */
export function selectActiveRuns(db: Queries, organization: string, conversation_id: string) {
  return ofOrganization(db, organization)
    .selectFrom("flow_runs")
    .selectAll("flow_runs")
    .where("conversation_id", "=", conversation_id)
    .where("status", "in", ["running", "waiting"]);
}

/** Stores the state of a locked run. */
export async function storeRun(
  { tx, now }: { readonly tx: Transaction; readonly now: Date },
  { organization_id, id }: Pick<RunRow, "organization_id" | "id">,
  state: RunState & { readonly message_id?: string | null },
): Promise<void> {
  const { status, reason, pending, steps, variables, wait, due_at, episode, message_id } = state;
  const isActive = status === "running" || status === "waiting";
  await ofOrganization(tx, organization_id)
    .updateTable("flow_runs")
    .set({
      status,
      reason,
      steps,
      due_at,
      episode,
      message_id,
      pending: JSON.stringify(pending),
      variables: JSON.stringify(variables),
      wait: wait && JSON.stringify(wait),
      ended_at: isActive ? null : now.toISOString(),
    })
    .where("id", "=", id)
    .execute();
}

/** Emits an event for a run that has failed. Apart from `storeRun`, which may be sent with the commit. */
export function reportFailure(tx: Transaction, run: RunRow, { status, reason }: RunState): void {
  if (status === "failed") {
    const { organization_id, id: run_id, flow_id, conversation_id, contact_id } = run;
    const data = { run_id, flow_id, conversation_id, contact_id, reason: reason ?? "" };
    tx.emit({ type: "flow.run_failed", organization_id, order: run_id, data });
  }
}

export interface NewStep {
  readonly number: number;
  readonly node_id: string;
  readonly node_type: string;
  readonly outcome: string;
  readonly detail: FlowStepDetail;
}

export async function insertSteps(
  { tx, now }: { readonly tx: Transaction; readonly now: Date },
  { organization_id, id }: Pick<RunRow, "organization_id" | "id">,
  steps: readonly NewStep[],
): Promise<void> {
  const rows = steps.map(({ detail, ...step }) => ({
    organization_id,
    run_id: id,
    ...step,
    detail: JSON.stringify(detail),
    at: now.toISOString(),
  }));
  await tx.insertInto("flow_run_steps").values(rows).execute();
}
