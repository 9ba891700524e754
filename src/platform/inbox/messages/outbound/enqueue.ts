/** Stores outbound messages, holds their prices, and enqueues their delivery. */
import { together } from "../../../../database/transaction.ts";
import { type NewJob, newJob } from "../../../../jobs/job.ts";
import { type InboxOfChannel, laneOf } from "../../../account/inboxes/index.ts";
import {
  type Actor,
  type Change,
  freshId,
  isPerson,
  recordOf,
  type World,
} from "../../../foundation/kernel/index.ts";
import { type Hold, recordHolds } from "../../../money/wallet/index.ts";
import { type OutboundConversation, recordOutbound } from "../../conversations/index.ts";
import { deliverMessageJob, newReadMarks } from "../delivery/index.ts";
import type { MessageRow } from "../progress/index.ts";
import { insertMessages } from "./insert.ts";

export interface AcceptedMessage {
  readonly id: string;
  readonly inbox: InboxOfChannel & { readonly id: string; readonly phone_number: string };
  readonly conversation: OutboundConversation;
  readonly to: string;
  readonly type: MessageRow["type"];
  readonly content: MessageRow["content"];
  readonly charge: MessageRow["charge"];
  /** The id of the message that it quotes. */
  readonly reply_to?: string | undefined;
  /** Whether its content answers what the contact wrote, if a person sends it. */
  readonly isAnswer: boolean;
  readonly actor: Actor;
  readonly now: Date;
  /** The W3C trace context that its delivery continues. Default: the current one. */
  readonly traceparent?: string | undefined;
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

export const newMessageId = (now: Date) => freshId({ now }, "msg");

interface PricedMessage extends Pick<AcceptedMessage, "id" | "charge"> {
  readonly organization_id: string;
  /** Whether the message may not be sent if the wallet does not cover its price. */
  readonly isLimited: boolean;
}

/** The hold of a message's price; undefined if nothing is charged. */
export function holdOf({ organization_id, id, charge, isLimited }: PricedMessage): Hold | undefined {
  if (!charge || charge.held === 0) {
    return undefined;
  }
  const { held: amount, currency, simulated = false } = charge;
  const reference = `${id}:hold`;
  return { organization_id, reference, amount, currency, message_id: id, simulated, isLimited };
}

/**
 * Stores messages, holds their prices, and enqueues their delivery, after earlier messages of their
 * conversations. The wallets cover the prices, and the conversations are locked.
 * @returns the messages, in the same order.
 */
export async function enqueueMessages(
  { tx, world }: Pick<Change, "tx" | "world">,
  outgoing: readonly AcceptedMessage[],
) {
  const [first] = outgoing;
  if (!first) {
    return [];
  }
  const messages = outgoing.map(toMessage);
  const holds = outgoing.flatMap(({ id, charge, conversation: { organization_id } }) => {
    return holdOf({ organization_id, id, charge, isLimited: false }) ?? [];
  });
  await together(
    recordHolds(tx, holds, first.now),
    recordOutbound({ tx, world }, outgoing),
    insertMessages(tx, messages),
    tx.enqueue([...outgoing.map(toJob), ...outgoing.flatMap((message) => toReadMarks(world, message))]),
  );
  tx.afterCommit(() => {
    for (const _ of messages) {
      world.metrics.message("queued");
    }
  });
  return messages;
}

function toMessage({ id, inbox, conversation, to, type, content, charge, ...rest }: AcceptedMessage) {
  const { actor, now, reply_to = null } = rest;
  return {
    organization_id: conversation.organization_id,
    id,
    conversation_id: conversation.id,
    type,
    content,
    direction: "outbound" as const,
    status: "queued" as const,
    from: inbox.phone_number,
    to,
    sent_by: { ...recordOf(actor), ...actor.via },
    charge,
    broadcast_id: null,
    created_at: now.toISOString(),
    ...notSent,
    reply_to,
  };
}

function toJob({ id: message_id, inbox, conversation, traceparent }: AcceptedMessage) {
  const { organization_id, id: subject } = conversation;
  const job = newJob(
    deliverMessageJob,
    { organization_id, message_id },
    { lane: laneOf(inbox.id), key: subject, subject },
  );
  return { ...job, traceparent };
}

/** A person who answers has read what the contact wrote. */
function toReadMarks(world: World, { inbox, conversation, actor, now }: AcceptedMessage): readonly NewJob[] {
  const { organization_id, id: conversation_id } = conversation;
  const read = { inbox, organization_id, conversation_id, now, isUnanswered: false };
  return isPerson(actor) ? newReadMarks(world, read) : [];
}
