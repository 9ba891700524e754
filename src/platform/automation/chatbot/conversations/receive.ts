/** Stores a received message as a turn, unless a flow answers the message or it is a stop word. */

import { sql } from "kysely";
import { z } from "zod";
import { InboxSettings } from "../../../../../tools/inboxes.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import { together } from "../../../../database/transaction.ts";
import { type NewJob, newJob } from "../../../../jobs/job.ts";
import { getOrDefaultInbox } from "../../../account/inboxes/index.ts";
import { defineHook, defineJob, freshId } from "../../../foundation/kernel/index.ts";
import { lockConversationSubject } from "../../../inbox/conversations/index.ts";
import { readConsent } from "../../../inbox/messages/index.ts";
import { insertTurn, messageTextOf } from "../turns.ts";
import { answerJob } from "./answer.ts";
import { isActive } from "./state.ts";

const Payload = z.object({
  organization_id: z.string(),
  conversation_id: z.string(),
  message_id: z.string(),
});
type Payload = z.infer<typeof Payload>;

/**
 * Whether a flow waits for a reply in a conversation, or has taken this message. Not an event: whether the
 * bot gets a turn depends on the result.
 */
export const flowAnswers = defineHook<
  [
    db: Queries,
    message: {
      readonly organization: string;
      readonly conversation_id: string;
      readonly message_id: string;
    },
  ],
  boolean
>();

/**
 * The job has the key of the conversation's flows, so that it runs after the jobs that were enqueued before
 * it.
 */
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
      if (!parties || !(await isActive(tx, parties.conversation))) {
        return;
      }
      const [message, { settings }] = await together(
        ofOrganization(tx, organization_id)
          .selectFrom("messages")
          .select("content")
          .where("id", "=", message_id)
          .executeTakeFirst(),
        getOrDefaultInbox(tx, organization_id, parties.conversation.inbox_id),
      );
      // After a stop word the contact gets only the confirmation.
      if (!message || readConsent(message.content.text?.body ?? "", InboxSettings.parse(settings)) === true) {
        return;
      }
      // The bot leaves the message to a flow that waits for a reply of the contact, or that has answered this
      // message or will answer it.
      const key = { organization: organization_id, conversation_id, message_id };
      const [isTaken, answer] = await together(
        flowAnswers.run(world, tx, key),
        ofOrganization(tx, organization_id)
          .selectFrom("messages")
          .select("id")
          .where("conversation_id", "=", conversation_id)
          .where("id", ">", message_id)
          .where("direction", "=", "outbound")
          .where(sql<boolean>`sent_by ->> 'type' = 'flow'`)
          .limit(1)
          .executeTakeFirst(),
      );
      const turn = { id: freshId({ now }, "turn"), conversation_id, contact_id: parties.contact.id };
      const question = messageTextOf(message.content);
      if (
        !isTaken.includes(true) &&
        answer === undefined &&
        (await insertTurn(tx, { organization_id, ...turn, message_id, question }, now))
      ) {
        const payload = { organization_id, conversation_id, turn_id: turn.id };
        const options = { key: `bot:${conversation_id}`, subject: conversation_id };
        await tx.enqueue([newJob(answerJob, payload, options)]);
      }
    });
    return undefined;
  },
});
