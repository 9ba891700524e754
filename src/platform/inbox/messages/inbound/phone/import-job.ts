/**
 * The job of messages of one person from the history of the owner's phone.
 *
 * It may be repeated: a message that is stored stays. A placeholder gets the content of its message, which is
 * reported later, or before it.
 */
import { z } from "zod";
import { defineJob } from "../../../../foundation/kernel/index.ts";
import { senderOf, withSender } from "../../../contacts/index.ts";
import { fetchReceivedFile, withFile } from "../file.ts";
import { ReportedMessage } from "../reported-message.ts";
import { importMessages } from "./import.ts";

const PastMessage = ReportedMessage.shape.message.extend({
  status: z.enum(["received", "sent", "delivered", "read", "failed"]),
});

/** Until the second attempt; each later wait is as long as all before it. */
const firstWaitMs = 10_000;
/** The message of the file of an unknown person is in a report that comes before or soon. */
const maxWaitMs = 24 * 3_600_000;

export const importMessagesJob = defineJob({
  name: "message.import",
  payload: z.object({
    organization_id: z.string(),
    inbox_id: z.string(),
    received_at: z.string(),
    messages: z.array(PastMessage),
  }),
  slots: 1 / 4,

  async run({ organization_id, inbox_id, received_at, messages }, world, attempt) {
    const target = { organization_id, inbox_id };
    const past = [];
    for (const { status, ...message } of messages) {
      const reported = { ...target, message };
      const file = message.file === null ? null : await fetchReceivedFile(world, reported, attempt);
      past.push({ ...withFile(world, reported, file), status });
    }
    const isDone = await importMessages(world, past);
    const waitedMs = world.now().getTime() - Date.parse(received_at);
    if (isDone || waitedMs >= maxWaitMs) {
      const [first] = isDone ? [] : messages;
      if (first) {
        const sender = senderOf(withSender(first).from);
        const { channel_message_id } = first;
        world.log.warn({ organization_id, channel_message_id, sender }, "A file of the history was dropped");
      }
      return undefined;
    }
    return { runAgainAt: new Date(world.now().getTime() + Math.max(waitedMs, firstWaitMs)) };
  },
});
