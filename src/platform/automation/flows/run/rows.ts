/** Reads, locks and writes the rows of runs. */
import { type Selectable, sql } from "kysely";
import type { Queries } from "../../../../database/database.ts";
import {
  columnsOf,
  insertAll,
  matchesKey,
  ofOrganization,
  recordset,
} from "../../../../database/query/index.ts";
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
  const runs = await lockRuns(tx, organization_id, { ids: [run_id], waitsForLocks: true });
  return runs.get(run_id);
}

/** The same for several runs, by id. Without `waitsForLocks`, the locked runs are left out. */
export async function lockRuns(
  tx: Transaction,
  organization: string,
  { ids, waitsForLocks }: { readonly ids: readonly string[]; readonly waitsForLocks: boolean },
): Promise<ReadonlyMap<string, RunRow>> {
  const runs = await ofOrganization(tx, organization)
    .selectFrom("flow_runs")
    .selectAll()
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .orderBy("id")
    .forUpdate()
    .$if(!waitsForLocks, (rows) => rows.skipLocked())
    .execute();
  return new Map(runs.map((run) => [run.id, run]));
}

/** Locks the active runs that may wait for a reply, in these conversations. */
export async function lockInteractiveRuns(
  tx: Transaction,
  organization: string,
  conversation_ids: readonly string[],
): Promise<readonly RunRow[]> {
  return ofOrganization(tx, organization)
    .selectFrom("flow_runs")
    .selectAll()
    .where(sql<boolean>`conversation_id = any(${conversation_ids}::text[])`)
    .where("status", "in", ["running", "waiting"])
    .where("is_interactive", "=", true)
    .orderBy("id")
    .forUpdate()
    .execute();
}

/** The active runs of a conversation. */
export function selectActiveRuns(db: Queries, organization: string, conversation_id: string) {
  return ofOrganization(db, organization)
    .selectFrom("flow_runs")
    .selectAll("flow_runs")
    .where("conversation_id", "=", conversation_id)
    .where("status", "in", ["running", "waiting"]);
}

/** A locked run with its new state. */
export interface ChangedRun {
  readonly run: RunRow;
  readonly state: RunState & { readonly message_id?: string | null };
}

export async function storeRun(
  change: { readonly tx: Transaction; readonly now: Date },
  run: RunRow,
  state: ChangedRun["state"],
): Promise<void> {
  await storeRuns(change, run.organization_id, [{ run, state }]);
}

const storedColumns = columnsOf(
  "flow_runs",
  "id",
  "status",
  "reason",
  "pending",
  "steps",
  "variables",
  "wait",
  "due_at",
  "episode",
  "message_id",
  "ended_at",
);

/** Stores the states of runs of one organization with one statement. */
export async function storeRuns(
  { tx, now }: { readonly tx: Transaction; readonly now: Date },
  organization: string,
  changed: readonly ChangedRun[],
): Promise<void> {
  const rows = changed.map(({ run: { id, message_id }, state }) => {
    const isActive = state.status === "running" || state.status === "waiting";
    return { id, message_id, ...state, ended_at: isActive ? null : now.toISOString() };
  });
  const ids = rows.map(({ id }) => id);
  await sql`
    update flow_runs set status = stored.status, reason = stored.reason, pending = stored.pending,
      steps = stored.steps, variables = stored.variables, wait = stored.wait, due_at = stored.due_at,
      episode = stored.episode, message_id = stored.message_id, ended_at = stored.ended_at
    from ${recordset("stored", storedColumns, rows)}
    where flow_runs.organization_id = ${organization} and ${matchesKey("flow_runs.id", "stored.id", ids)}
  `.execute(tx);
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

/** Inserts the steps of runs of one organization with one statement. */
export async function insertSteps(
  { tx, now }: { readonly tx: Transaction; readonly now: Date },
  organization_id: string,
  taken: readonly { readonly run: RunRow; readonly steps: readonly NewStep[] }[],
): Promise<void> {
  const at = now.toISOString();
  const rows = taken.flatMap(({ run, steps }) =>
    steps.map((step) => ({ organization_id, run_id: run.id, ...step, at })),
  );
  await insertAll(tx, "flow_run_steps", rows);
}
