/** Applies what a person did with an earlier message, once that message is known. */
import { z } from "zod";
import { defineJob } from "../../../foundation/kernel/index.ts";
import { applyChange } from "./changes.ts";
import { senderFields } from "./sender.ts";

const Change = z.discriminatedUnion("type", [
  z.object({ type: z.literal("reaction"), emoji: z.string().nullable() }),
  z.object({ type: z.literal("edit"), text: z.string() }),
  z.object({ type: z.literal("edit_caption"), caption: z.string().nullable() }),
  z.object({ type: z.literal("delete") }),
]);

/** Until the second attempt; each later wait is as long as all before it. */
const firstWaitMs = 2_000;
/** Our answer to a message, or the message's own file, takes seconds. After an hour it is one of another system. */
const maxWaitMs = 3_600_000;

/** With a key of the message that it is about, not the key of the person's messages: it may wait for one of them. */
export const changeMessageJob = defineJob({
  name: "message.change",
  payload: z.object({
    ...senderFields,
    organization_id: z.string(),
    received_at: z.string(),
    channel_message_id: z.string(),
    change_id: z.string(),
    occurred_at: z.string(),
    change: Change,
  }),

  async run({ received_at, ...change }, world) {
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
