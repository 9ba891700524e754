/** Starts another flow from a run, in the same conversation. */
import { fail } from "../../../../../tools/errors.ts";
import type { OrganizationChange } from "../../../foundation/kernel/index.ts";
import type { ConversationRow } from "../../../inbox/conversations/index.ts";
import { scopesOfNodes } from "../authority/index.ts";
import { getFlow } from "../definitions/find.ts";
import { toGraph } from "../graph/index.ts";
import { clearWork } from "./machine.ts";
import { type RunRow, storeRun } from "./rows.ts";
import { requireStartable, startRun } from "./start.ts";

/**
 * Returns whether the other flow takes over: if both may wait for replies, this run ends where the other run
 * begins.
 * @throws Failure `flow_not_found`, `flow_disabled`, `flow_not_startable`, `flow_run_active`.
 */
export async function startOtherFlow(
  change: OrganizationChange,
  {
    flow_id,
    run,
    conversation,
    scopes,
  }: {
    readonly flow_id: string;
    readonly run: RunRow;
    readonly conversation: ConversationRow;
    /** The scopes of the run's flow; null if an earlier version saved the flow. */
    readonly scopes: readonly string[] | null;
  },
): Promise<boolean> {
  const flow = await getFlow(change.tx, change.organization, flow_id);
  requireStartable(flow, conversation);
  const missing = scopesOfNodes(toGraph(flow.nodes)).find((scope) => scopes?.includes(scope) === false);
  if (missing !== undefined) {
    throw fail("flow_not_startable", {
      reason: `its nodes need the scope ${missing}, without which the flow that starts it was saved.`,
    });
  }
  const isTakenOver = run.is_interactive && flow.is_interactive;
  if (isTakenOver) {
    // Stored before the other run is inserted, because only one may be active.
    await storeRun(change, run, { ...clearWork(run), status: "completed", reason: "handed_over" });
  }
  const started = await startRun(change, {
    flow,
    conversation,
    trigger_type: "flow",
    message_id: run.message_id,
    trigger_key: `${run.id}:${run.steps}`,
  });
  if ("skipped" in started) {
    throw started.skipped === "interactive_run_active"
      ? fail("flow_run_active", { run_id: started.run_id })
      : fail("flow_not_startable", {
          reason: "too many runs were started for this contact in the last hour.",
        });
  }
  return isTakenOver;
}
