/** Waits until a plan is decided or has ended. */
import type { ReadContext } from "../../../foundation/kernel/index.ts";
import { waitWhilePending } from "../../../inbox/messages/index.ts";
import { shownStatus } from "../states.ts";
import { getPlan, type PlanRow } from "../store.ts";

/** The statuses that a person, a job or the run still changes. */
const undecided: readonly string[] = ["preparing", "ready", "awaiting_approval", "running"];

export async function waitForPlan(
  wait: { readonly id: string; readonly timeout_seconds: number },
  context: ReadContext,
): Promise<{ readonly plan: PlanRow; readonly is_timed_out: boolean }> {
  const { db, organization, world } = context;
  const { seen: plan, is_timed_out } = await waitWhilePending(wait, context, {
    read: () => getPlan(db, organization, wait.id),
    isPending: (read) => undecided.includes(shownStatus(read, world.now())),
  });
  return { plan, is_timed_out };
}
