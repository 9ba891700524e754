/** Leaves the bot's conversations to people after the bot was switched off, in batches. */
import { z } from "zod";
import { ofOrganization } from "../../../../database/query/index.ts";
import { newJob } from "../../../../jobs/job.ts";
import { defineJob, system } from "../../../foundation/kernel/index.ts";
import { lockConversations, openIfPending, requestRouting } from "../../../inbox/conversations/index.ts";
import { findConfig } from "../config.ts";
import { endStatement } from "./state.ts";

/** A batch locks its conversations until its commit. */
const batchSize = 100;

const Payload = z.object({
  organization_id: z.string(),
  /** The last conversation of the previous batch; empty for the first batch. */
  after: z.string(),
});

export const releaseJob = defineJob({
  name: "chatbot.release",
  payload: Payload,

  async run({ organization_id: organization, after }, world) {
    await world.database.transaction(async (tx) => {
      const config = await findConfig(tx, organization);
      if (config?.is_active) {
        // Switched on again meanwhile.
        return;
      }
      const parts = await ofOrganization(tx, organization)
        .selectFrom("chatbot_conversations")
        .select("conversation_id")
        .where("state", "=", "active")
        .where("conversation_id", ">", after)
        .orderBy("conversation_id")
        .limit(batchSize)
        .execute();
      const ids = parts.map(({ conversation_id }) => conversation_id);
      const conversations = await lockConversations(tx, organization, ids);
      const now = world.now();
      const change = { tx, world, now, actor: system, organization };
      await endStatement(organization, ids, { reason: "switched_off", now }).execute(tx);
      await requestRouting(change, conversations, "inbound");
      for (const { id, status, waiting_since } of conversations) {
        // The bot has not answered the contact's message, and will not.
        if (status === "pending" && waiting_since !== null) {
          await openIfPending(change, id);
        }
      }
      const last = ids.at(-1);
      if (last !== undefined && ids.length === batchSize) {
        await tx.enqueue([newJob(releaseJob, { organization_id: organization, after: last })]);
      }
    });
    return undefined;
  },
});
