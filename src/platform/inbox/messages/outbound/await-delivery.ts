/** Waits after the commit of a message until it is delivered or has failed, or the time is over. */
import type { z } from "zod";
import type { messages as contract } from "../../../../../tools/messages/index.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { capabilitiesOf } from "../../../account/inboxes/index.ts";
import type { ReadContext } from "../../../foundation/kernel/index.ts";
import { channelOfMessage, serializeMessage } from "../serialize.ts";
import { getWaiters } from "../waiting/index.ts";

type Answer = z.output<typeof contract.send_message.output>["data"];

/** How often the message is read. */
const pollMs = 250;

const endStatuses: readonly Answer["status"][] = ["delivered", "read", "failed"];

/**
 * The answer with the message's status at the end of the wait. The message is sent in any case: so a caller
 * with too many waiting calls, or whose credential ends meanwhile, is answered at once.
 */
export async function awaitDelivery(
  sent: Answer,
  seconds: number,
  { world, db, organization, caller, now, signal }: ReadContext,
): Promise<Answer> {
  const deadline = now.getTime() + seconds * 1000;
  const isOver = () => signal.aborted || world.stopping.aborted || world.now().getTime() >= deadline;
  using waiter = getWaiters(world).addIfAllowed({ caller, subject: sent.id });
  for (;;) {
    waiter?.signal.clear();
    const row = await ofOrganization(db, organization)
      .selectFrom("messages")
      .selectAll()
      .select(channelOfMessage)
      .where("id", "=", sent.id)
      .executeTakeFirstOrThrow();
    const { status, error } = serializeMessage(world, row);
    const isFinal = status === "sent" && !capabilitiesOf(world, row).hasReceipts;
    if (isFinal || endStatuses.includes(status) || !waiter || waiter.isEnded || isOver()) {
      return { ...sent, status, error };
    }
    await waiter.signal.wait(pollMs);
  }
}
