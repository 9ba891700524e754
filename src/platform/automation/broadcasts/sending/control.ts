/** Pauses, resumes and cancels broadcasts. */
import { type BroadcastRow, changeBroadcast, getBroadcast, lockBroadcast, requireState } from "../find.ts";
import { excludePending } from "./exclude.ts";
import { type ExecuteContext, executeBroadcast, startDispatch } from "./execute.ts";

type ControlContext = Omit<ExecuteContext, "broadcast"> & { readonly organization: string };

export async function pauseBroadcast(
  { tx, organization, now }: ControlContext,
  id: string,
): Promise<BroadcastRow> {
  const broadcast = await lockBroadcast(tx, organization, { id, allowed: ["processing"], action: "paused" });
  return changeBroadcast(tx, broadcast, { execution_status: "paused", paused_reason: "requested", now });
}

/** A broadcast that missed its schedule has no recipients yet: resuming executes it now. */
export async function resumeBroadcast(context: ControlContext, id: string): Promise<BroadcastRow> {
  const { tx, organization, now } = context;
  const broadcast = await lockBroadcast(tx, organization, { id, allowed: ["paused"], action: "resumed" });
  if (broadcast.template === null) {
    return executeBroadcast({ ...context, broadcast }, { allowPartial: false });
  }
  const resumed = { execution_status: "processing", paused_reason: null, now } as const;
  const changed = await changeBroadcast(tx, broadcast, resumed);
  return startDispatch({ ...context, broadcast: changed });
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
