/** Waits until a broadcast completed, paused, failed or was cancelled, so that it sends nothing more. */
import type { ReadContext } from "../../../foundation/kernel/index.ts";
import { waitWhilePending } from "../../../inbox/messages/index.ts";
import { getBroadcast, metricsOf } from "../find.ts";

/** States that only a person or a schedule changes. */
const sendingStates = ["scheduled", "processing"];

export async function waitForBroadcast(
  wait: { readonly id: string; readonly timeout_seconds: number },
  context: ReadContext,
) {
  const { seen, is_timed_out } = await waitWhilePending(wait, context, {
    read: async () => metricsOf(await getBroadcast(context.db, context.organization, wait.id)),
    isPending: ({ execution_status }) => sendingStates.includes(execution_status),
  });
  return { ...seen, is_timed_out };
}
