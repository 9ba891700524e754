/** Applies what a person did with an earlier message, once that message is known. */
import { z } from "zod";
import { defineJob } from "../../../foundation/kernel/index.ts";
import { senderFields, withSender } from "../../contacts/index.ts";
import { applyChange } from "./changes.ts";

const Change = z.discriminatedUnion("type", [
  z.object({ type: z.literal("reaction"), emoji: z.string().nullable() }),
  z.object({ type: z.literal("edit"), text: z.string() }),
  z.object({ type: z.literal("edit_caption"), caption: z.string().nullable() }),
  z.object({ type: z.literal("delete") }),
]);

/** Until the second attempt; each later wait is as long as all before it. */
const firstWaitMs = 2_000;
/**
 * Our answer to a message, or the copy of the message's file, takes seconds. A message that is unknown after
 * an hour belongs to another system.
 */
const maxWaitMs = 3_600_000;

/**
 * Its key names the message that it changes, not the person: it may wait for one of the person's messages.
 */
export const changeMessageJob = defineJob({
  name: "message.change",
  payload: z.object({
    ...senderFields,
    organization_id: z.string(),
    /** Jobs of earlier versions have none. */
    channel: z.string().optional(),
    received_at: z.string(),
    channel_message_id: z.string(),
    change_id: z.string(),
    occurred_at: z.string(),
    change: Change,
  }),

  async run({ received_at, ...stored }, world) {
    const change = withSender(stored);
    if (await applyChange(world, change)) {
      return undefined;
    }
    const waitedMs = world.now().getTime() - Date.parse(received_at);
    if (waitedMs >= maxWaitMs) {
      const { organization_id, channel_message_id } = change;
      const { type } = change.change;
      world.log.warn(
        { organization_id, channel_message_id, type },
        "A change of an unknown message, or by an unknown person, was dropped",
      );
      return undefined;
    }
    return { runAgainAt: new Date(world.now().getTime() + Math.max(waitedMs, firstWaitMs)) };
  },
});
