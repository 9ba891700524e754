/** Executes a broadcast: freezes its recipients, holds their price, and starts the dispatch. */
import { toLaterBudgets } from "../../../account/rules/index.ts";
import { type Actor, recordOf } from "../../../foundation/kernel/index.ts";
import { type BroadcastRow, changeBroadcast, getBroadcast } from "../find.ts";
import { broadcastContent, prepareContent } from "../prepare.ts";
import { enqueueDispatch } from "./dispatch.ts";
import { type FreezeContext, type FreezeOptions, freezeRecipients } from "./freeze.ts";
import { requireAllowedBroadcast, requireUnplannedBroadcast } from "./rules.ts";

/** States in which nothing of a broadcast has been sent. */
export const startable = ["draft", "scheduled", "failed"] as const;

export interface ExecuteContext extends FreezeContext {
  readonly actor: Actor;
}

/** @throws Failure if the template, the cohort or the wallet does not allow it. */
export async function executeBroadcast(
  context: ExecuteContext,
  options: FreezeOptions,
): Promise<BroadcastRow> {
  const { tx, now, broadcast, actor } = context;
  const prepared = await prepareContent(context, broadcast.organization_id, broadcastContent(broadcast));
  const frozen = await freezeRecipients(context, prepared, options);
  const { total, excluded, currency, simulated, cost } = frozen;
  if (!options.planned) {
    await requireUnplannedBroadcast(context, { recipients: total, amount: cost });
  }
  const { name, language, version } = prepared.template;
  const executed = await changeBroadcast(tx, broadcast, {
    execution_status: "processing",
    failure_reason: null,
    paused_reason: null,
    total,
    currency,
    simulated,
    runs: broadcast.runs + 1,
    started_at: now.toISOString(),
    template: JSON.stringify({ name, language, version }),
    executed_by: JSON.stringify(recordOf(actor)),
    excluded: JSON.stringify(excluded),
    ...toLaterBudgets(actor),
    now,
  });
  return startDispatch({ ...context, broadcast: executed });
}

/** Enqueues the dispatch, which also completes a broadcast without recipients. */
export async function startDispatch(context: ExecuteContext): Promise<BroadcastRow> {
  const { tx, broadcast } = context;
  await requireAllowedBroadcast(context);
  const { organization_id, id } = broadcast;
  await enqueueDispatch(tx, { organization_id, broadcast_id: id });
  return getBroadcast(tx, organization_id, id);
}
