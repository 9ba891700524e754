/** Makes a turn of a message, unless a flow has taken it. */

import { sql } from "kysely";
import { z } from "zod";
import { type NewJob, newJob } from "../../../jobs/job.ts";
import { lockConversationSubject } from "../../conversations/index.ts";
import { defineJob, freshId } from "../../kernel/index.ts";
import { insertTurn, textOf } from "../turns.ts";
import { answerJob } from "./answer.ts";
import { isActive } from "./state.ts";

const Payload = z.object({
  organization_id: z.string(),
  conversation_id: z.string(),
  message_id: z.string(),
});
type Payload = z.infer<typeof Payload>;

/** It has the key of the conversation's flows, so that it runs after the job that adds it. */
export function createReceiveJob(payload: Payload): NewJob {
  const { conversation_id } = payload;
  return newJob(receiveJob, payload, { key: `flow:${conversation_id}`, subject: conversation_id });
}

export const receiveJob = defineJob<Payload>({
  name: "chatbot.receive",
  payload: Payload,

  async run({ organization_id, conversation_id, message_id }, world) {
    const now = world.now();
    await world.database.transaction(async (tx) => {
      const parties = await lockConversationSubject(tx, organization_id, conversation_id);
      const message = await tx
        .selectFrom("messages")
        .select("content")
        .where("organization_id", "=", organization_id)
        .where("id", "=", message_id)
        .executeTakeFirst();
      if (!parties || !message || !(await isActive(tx, parties.conversation))) {
        return;
      }
      // A flow that waits for a reply speaks with the contact, and so does one that has answered this message, or will.
      const { rows } = await sql`
        select from flow_runs
        where organization_id = ${organization_id} and conversation_id = ${conversation_id}
          and status in ('running', 'waiting') and (is_interactive or message_id = ${message_id})
        union all
        select from messages
        where organization_id = ${organization_id} and conversation_id = ${conversation_id} and id > ${message_id}
          and direction = 'outbound' and sent_by ->> 'type' = 'flow'
        limit 1
      `.execute(tx);
      const turn = { id: freshId({ now }, "turn"), conversation_id, contact_id: parties.contact.id };
      const question = textOf(message.content);
      if (
        rows.length === 0 &&
        (await insertTurn(tx, { organization_id, ...turn, message_id, question }, now))
      ) {
        const payload = { organization_id, conversation_id, turn_id: turn.id };
        const options = { key: `bot:${conversation_id}`, subject: conversation_id };
        await world.jobs.enqueueAll(tx, [newJob(answerJob, payload, options)]);
      }
    });
    return undefined;
  },
});
