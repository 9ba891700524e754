/**
 * The job of a message that a channel has reported. It stores the message, unless that has been done.
 *
 * The provider keeps a file for a short time only. The file is copied into our store first, so that it can be
 * opened once the message is reported. If that is impossible, the message is stored without the file, with
 * the type "unsupported".
 */
import { ofOrganization } from "../../../../database/query/index.ts";
import { defineJob, type World } from "../../../foundation/kernel/index.ts";
import { fetchReceivedFile, withFile } from "./file.ts";
import { ReportedMessage } from "./reported-message.ts";
import { storeMessage } from "./store/index.ts";

export const receiveMessageJob = defineJob({
  name: "message.receive",
  payload: ReportedMessage,
  // Later messages of the same person wait for this one.
  maxAttempts: 8,
  slots: 1 / 4,
  isKeptByErasure: true,

  async run(reported, world, attempt) {
    const { file } = reported.message;
    // A repeated report must not fetch the file again.
    if (file === null || !(await isStored(world, reported))) {
      const fetched = file === null ? null : await fetchReceivedFile(world, reported, attempt);
      await storeMessage(world, withFile(world, reported, fetched));
    }
    return undefined;
  },

  /**
   * The provider does not repeat the message. So it is stored even if the process died in each attempt, for
   * example while it copied the file.
   */
  async exhausted(reported, world) {
    try {
      await storeMessage(world, withFile(world, reported, null));
    } catch (error) {
      // If this were thrown, the job would be tried again without end, and later messages would wait.
      const { organization_id, message } = reported;
      const { channel_message_id } = message;
      world.log.error(
        { err: error, organization_id, channel_message_id },
        "A received message could not be stored",
      );
    }
  },
});

async function isStored(world: World, { organization_id, message }: ReportedMessage): Promise<boolean> {
  const stored = await ofOrganization(world.database.queries, organization_id)
    .selectFrom("messages")
    .select("id")
    .where("channel_message_id", "=", message.channel_message_id)
    .executeTakeFirst();
  return stored !== undefined;
}
