/** Waits until a broadcast completed, paused, failed or was cancelled, so that it sends nothing more. */
import type { ReadContext } from "../../../foundation/kernel/index.ts";
import { getWaiters, requireLive } from "../../../inbox/messages/index.ts";
import { getBroadcast, metricsOf } from "../find.ts";

/** How often the counts are read. */
const pollMs = 250;

/** States that only a person or a schedule changes. */
const sendingStates = ["scheduled", "processing"];

export async function waitForBroadcast(
  { id, timeout_seconds }: { readonly id: string; readonly timeout_seconds: number },
  { world, db, organization, caller, now, signal }: ReadContext,
) {
  const deadline = now.getTime() + timeout_seconds * 1000;
  const isOver = () => signal.aborted || world.stopping.aborted || world.now().getTime() >= deadline;
  using waiter = getWaiters(world).add({ caller, subject: id });
  for (;;) {
    waiter.signal.clear();
    await requireLive(waiter, db, organization);
    const metrics = metricsOf(await getBroadcast(db, organization, id));
    const is_timed_out = sendingStates.includes(metrics.execution_status);
    if (!is_timed_out || isOver()) {
      return { ...metrics, is_timed_out };
    }
    await waiter.signal.wait(pollMs);
  }
}
