/** Stores an outbound message, holds its price, and enqueues its delivery. */
import { type RawBuilder, sql } from "kysely";
import { onlyRow, rowsOf } from "../../../../database/query/index.ts";
import { together } from "../../../../database/transaction.ts";
import { newJob } from "../../../../jobs/job.ts";
import { type InboxOfChannel, laneOf } from "../../../account/inboxes/index.ts";
import { type Change, freshId, isPerson, recordOf } from "../../../foundation/kernel/index.ts";
import { failInsufficient, holdInsertion, lockWallet } from "../../../money/wallet/index.ts";
import { type OutboundConversation, recordOutbound } from "../../conversations/index.ts";
import { deliverMessageJob, newReadMarks } from "../delivery/index.ts";
import type { MessageRow } from "../progress.ts";

interface OutgoingMessage {
  readonly inbox: InboxOfChannel & { readonly id: string; readonly phone_number: string };
  readonly conversation: OutboundConversation;
  readonly to: string;
  readonly type: MessageRow["type"];
  readonly content: MessageRow["content"];
  readonly charge: MessageRow["charge"];
  /** Whether the message is rejected if less than its price is available. */
  readonly isLimited: boolean;
  /** The id of the message that it quotes. */
  readonly reply_to?: string | undefined;
}

const notSent = {
  channel_message_id: null,
  claimed_at: null,
  refusals: 0,
  quota_full_at: null,
  sent_at: null,
  delivered_at: null,
  read_at: null,
  failed_at: null,
  error: null,
  delay: null,
  reactions: null,
  edited_at: null,
  deleted_at: null,
};

/**
 * Stores a message of the change's actor, holds its price, and enqueues its delivery, after earlier messages
 * of the conversation.
 * @throws Failure `insufficient_funds`.
 */
export async function enqueueMessage(change: Change, outgoing: OutgoingMessage) {
  const { tx, world, now, actor } = change;
  const { inbox, conversation, to, type, content, charge, reply_to = null } = outgoing;
  const { organization_id } = conversation;
  const id = freshId({ now }, "msg");
  const created_at = now.toISOString();
  const sent_by = recordOf(actor);
  const message: NewMessage = {
    organization_id,
    id,
    conversation_id: conversation.id,
    type,
    content,
    direction: "outbound",
    status: "queued",
    from: inbox.phone_number,
    to,
    sent_by,
    charge,
    broadcast_id: null,
    created_at,
    ...notSent,
    reply_to,
  };
  const job = newJob(
    deliverMessageJob,
    { organization_id, message_id: id },
    { lane: laneOf(inbox.id), key: conversation.id, subject: conversation.id },
  );
  const read = { inbox, organization_id, conversation_id: conversation.id, now, isUnanswered: false };
  const marks = isPerson(actor) ? newReadMarks(world, read) : [];
  const [jobInsertion, conversationUpdate] = await together(
    world.jobs.insertion(tx, [job, ...marks]),
    recordOutbound(change, conversation, { at: created_at, isTemplate: type === "template" }),
  );
  const { isLimited } = outgoing;
  await insertMessage(change, message, { jobInsertion, conversationUpdate, isLimited });
  tx.afterCommit(() => world.metrics.message("queued"));
  return { ...message, sent_by };
}

type NewMessage = Omit<MessageRow, "transaction_id">;

interface AccompanyingStatements {
  readonly jobInsertion: RawBuilder<unknown>;
  readonly conversationUpdate: RawBuilder<unknown>;
  /** Whether the message is rejected if less than its price is available. */
  readonly isLimited: boolean;
}

/** Inserts the message, its job, the hold of its price and the conversation's update with one statement. */
async function insertMessage(
  change: Change,
  message: NewMessage,
  { jobInsertion, conversationUpdate, isLimited }: AccompanyingStatements,
): Promise<void> {
  const { tx, world, now } = change;
  const { organization_id, id, charge } = message;
  const { held: amount = 0, currency = "", simulated = false } = charge ?? {};
  const reference = `${id}:hold`;
  const hold = { organization_id, reference, amount, currency, message_id: id, simulated };
  const holding =
    amount > 0 ? sql`${holdInsertion(world, hold, { now, isLimited })} returning 1` : sql`select 1`;
  const [, { rows }] = await together(
    isLimited && lockWallet(tx, organization_id),
    rowsOf({ is_held: "boolean" })`
      with job as (${jobInsertion}), conversation as (${conversationUpdate}), hold as (${holding})
      insert into messages (organization_id, id, conversation_id, direction, type, content, "from", "to", status, sent_by,
        charge, created_at, reply_to)
      values (${organization_id}, ${id}, ${message.conversation_id}, ${message.direction}, ${message.type},
        ${JSON.stringify(message.content)}::jsonb, ${message.from}, ${message.to}, ${message.status},
        ${JSON.stringify(message.sent_by)}::jsonb, ${charge && JSON.stringify(charge)}::jsonb, ${message.created_at}, ${message.reply_to})
      returning exists (select from hold) as is_held
    `.execute(tx),
  );
  if (!onlyRow(rows).is_held) {
    throw await failInsufficient(tx, world, { organization: organization_id, simulated, required: amount });
  }
}
