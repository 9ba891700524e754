/** Pauses, resumes and cancels broadcasts. */

import { toLaterBudgets } from "../../../account/rules/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import { type BroadcastRow, changeBroadcast, getBroadcast, lockBroadcast, requireState } from "../find.ts";
import { excludePending } from "./exclude.ts";
import { type ExecuteContext, executeBroadcast, startDispatch } from "./execute.ts";
import type { PlannedRecipient } from "./planned-recipients.ts";

type ControlContext = Omit<ExecuteContext, "broadcast"> & { readonly organization: string };

export async function pauseBroadcast(
  { tx, organization, now }: ControlContext,
  id: string,
): Promise<BroadcastRow> {
  const broadcast = await lockBroadcast(tx, organization, { id, allowed: ["processing"], action: "paused" });
  return changeBroadcast(tx, broadcast, { execution_status: "paused", paused_reason: "requested", now });
}

/** A broadcast that missed its schedule has no recipients yet: resuming executes it now. */
export async function resumeBroadcast(
  context: ControlContext,
  id: string,
  planned?: AsyncIterable<readonly PlannedRecipient[]>,
): Promise<BroadcastRow> {
  const { tx, organization, now } = context;
  const broadcast = await lockBroadcast(tx, organization, { id, allowed: ["paused"], action: "resumed" });
  if (broadcast.template === null) {
    const options = { allowPartial: false, ...(planned && { planned }) };
    return executeBroadcast({ ...context, broadcast }, options);
  }
  const resumed = { execution_status: "processing", paused_reason: null, now } as const;
  const budgets = toLaterBudgets(context.actor, broadcast.budget_holders);
  const changed = await changeBroadcast(tx, broadcast, { ...resumed, ...budgets });
  return startDispatch({ ...context, broadcast: changed });
}

/** Pauses all broadcasts that are being sent or wait for their time, in all organizations. */
export async function pauseAllBroadcasts(tx: Transaction, now: Date): Promise<readonly BroadcastRow[]> {
  const rows = await tx
    .selectFrom("broadcasts")
    .selectAll()
    .where("execution_status", "in", ["processing", "scheduled"])
    .forUpdate()
    .execute();
  const paused: BroadcastRow[] = [];
  for (const row of rows) {
    // A scheduled broadcast has no recipients yet: resuming it executes it.
    const paused_reason = row.execution_status === "scheduled" ? "missed_schedule" : "requested";
    paused.push(await changeBroadcast(tx, row, { execution_status: "paused", paused_reason, now }));
  }
  return paused;
}

const cancellable = { allowed: ["draft", "scheduled", "processing", "paused"], action: "cancelled" } as const;

/**
 * The recipients are locked before the broadcast, as in a dispatch, so that a cancel and a dispatch do not
 * deadlock.
 */
export async function cancelBroadcast(
  { tx, organization, now }: ControlContext,
  id: string,
): Promise<BroadcastRow> {
  const broadcast = await getBroadcast(tx, organization, id);
  requireState(broadcast, cancellable);
  await excludePending({ tx, now, broadcast }, "cancelled");
  // The broadcast may have completed meanwhile.
  const locked = await lockBroadcast(tx, organization, { id, ...cancellable });
  return changeBroadcast(tx, locked, { execution_status: "cancelled", paused_reason: null, now });
}
