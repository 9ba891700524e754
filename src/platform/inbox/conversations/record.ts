/** Records in conversations that messages were received and sent. */
import { sql } from "kysely";
import { newId } from "../../../database/id.ts";
import {
  allColumnsOf,
  columnsOf,
  type InputRow,
  matchesKey,
  ofOrganization,
  recordset,
  rowsOf,
} from "../../../database/query/index.ts";
import type { ReceivedDetails } from "../../../ports/channel/message-content.ts";
import { type Actor, type Change, isPerson, type Transaction } from "../../foundation/kernel/index.ts";
import { requireUpdated } from "./change.ts";
import {
  type ConversationRow,
  type InboxContacts,
  requireConversation,
  toNewConversations,
} from "./find/index.ts";
import { conversationsTaken, takesMessage } from "./hooks.ts";
import { requestRouting } from "./route.ts";
import { applyEvent, changedState } from "./status.ts";

/** A message from a contact, as its conversation records it. */
interface InboundFacts {
  readonly conversation: ConversationRow;
  /** The channel's time of the message. */
  readonly at: string;
  readonly isBlocked: boolean;
  readonly referral: ReceivedDetails["referral"];
}

const inboundColumns = {
  ...columnsOf("conversations", "id"),
  at: "timestamptz",
  needs_answer: "boolean",
  referral: "jsonb",
} as const;

/**
 * Records messages from contacts of one organization, at most one for each conversation: they restart the
 * service window and make the conversation unread. Unless the contact is blocked, they also reopen the
 * conversation and request routing. A message from a blocked contact, or in a conversation that is spam,
 * waits for no answer.
 */
export async function recordInbound(
  change: Change,
  organization: string,
  received: readonly InboundFacts[],
): Promise<void> {
  if (received.length === 0) {
    return;
  }
  const rows = received.map(({ conversation: { id, status }, at, isBlocked, referral }) => ({
    id,
    at,
    needs_answer: !isBlocked && status !== "spam",
    referral: referral && { ...referral, at },
  }));
  const ids = rows.map(({ id }) => id);
  const updated = await rowsOf(allColumnsOf("conversations"))`
    update conversations set
      last_message_at = greatest(last_message_at, received.at),
      last_user_message_at = greatest(last_user_message_at, received.at),
      last_received_at = ${change.now.toISOString()}::timestamptz,
      -- The contact has waited since the first of several unanswered messages.
      waiting_since = case when received.needs_answer then coalesce(waiting_since, received.at) end,
      is_unread = true,
      unread_count = case when is_unread then unread_count + 1 else 1 end,
      referrals = case when received.referral is null then referrals else jsonb_build_object(
        'first', coalesce(referrals -> 'first', received.referral), 'latest', received.referral) end,
      updated_at = ${change.now.toISOString()}::timestamptz
    from ${recordset("received", inboundColumns, rows)}
    where conversations.organization_id = ${organization}
      and ${matchesKey("conversations.id", "received.id", ids)}
    returning conversations.*
  `.execute(change.tx);
  const byId = new Map(updated.rows.map((row) => [row.id, row]));
  const unchanged: ConversationRow[] = [];
  for (const { conversation: before } of received.filter(({ isBlocked }) => !isBlocked)) {
    const conversation = requireUpdated(byId, before);
    const isTaken = await isTakenByFlowOrBot(change, conversation);
    const current = await applyEvent(change, conversation, { type: "inbound", isTaken });
    // A change of the status has requested routing already.
    if (current === conversation) {
      unchanged.push(conversation);
    }
  }
  await requestRouting(change, unchanged, "inbound");
}

/** The hooks run only where the next status depends on their answer. */
async function isTakenByFlowOrBot(
  { tx, world }: Change,
  { organization_id: organization, id: conversation_id, status, opens_on_answer }: ConversationRow,
): Promise<boolean> {
  const isDecisive = status === "closed" || (status === "pending" && opens_on_answer);
  const takers = isDecisive ? await takesMessage.run(world, tx, { organization, conversation_id }) : [];
  return takers.includes(true);
}

/** What a message to the contact needs of its conversation. */
export type OutboundConversation = Pick<
  ConversationRow,
  | "organization_id"
  | "id"
  | "status"
  | "snoozed_until"
  | "opens_on_answer"
  | "last_user_message_at"
  | "may_be_automated"
>;

/** A message to a contact, as its conversation records it. */
export interface SentMessage {
  readonly conversation: OutboundConversation;
  readonly actor: Actor;
  readonly now: Date;
  /** Whether its content answers what the contact wrote, if a person sends it. */
  readonly isAnswer: boolean;
}

/**
 * Records messages to contacts; they do not restart the service window. A person's message makes the
 * conversation open and read, and ends its flows and the bot. The contact waits until a person answers. The
 * caller must have locked the conversations.
 */
export async function recordOutbound(
  { tx, world }: Pick<Change, "tx" | "world">,
  sent: readonly SentMessage[],
): Promise<void> {
  for (const { conversation, actor, now } of sent) {
    const change = { tx, world, now, actor };
    const { organization_id, id, may_be_automated } = conversation;
    if (isPerson(actor) && changedState(conversation, { type: "reply" })) {
      const locked = await requireConversation(tx, organization_id, id, { locks: true });
      await applyEvent(change, locked, { type: "reply" });
    }
    if (isPerson(actor) && may_be_automated) {
      await conversationsTaken.run(world, change, { organization: organization_id, answered: [id] });
    }
  }
  const rows = byConversation(sent);
  const organizations = rows.map(({ organization_id }) => organization_id);
  const ids = rows.map(({ id }) => id);
  await sql`
    update conversations set
      last_message_at = greatest(last_message_at, sent.at),
      last_agent_message_at = greatest(last_agent_message_at, sent.replied_at),
      is_unread = is_unread and sent.replied_at is null,
      may_be_automated = may_be_automated and sent.replied_at is null,
      waiting_since = case when sent.is_answer then null else waiting_since end,
      updated_at = sent.at
    from ${recordset("sent", sentColumns, rows)}
    where ${matchesKey("conversations.organization_id", "sent.organization_id", organizations)}
      and ${matchesKey("conversations.id", "sent.id", ids)}
  `.execute(tx);
}

const sentColumns = {
  ...columnsOf("conversations", "organization_id", "id"),
  at: "timestamptz",
  replied_at: "timestamptz",
  is_answer: "boolean",
} as const;

/**
 * One row for each conversation: when the last message was sent, when a person replied, and whether a person
 * answered.
 */
function byConversation(sent: readonly SentMessage[]) {
  const rows = new Map<string, InputRow<typeof sentColumns>>();
  for (const { conversation, actor, now, isAnswer } of sent) {
    const { organization_id, id } = conversation;
    const before = rows.get(id);
    const at = now.toISOString();
    rows.set(id, {
      organization_id,
      id,
      at: later(before?.at, at),
      replied_at: isPerson(actor) ? later(before?.replied_at, at) : before?.replied_at,
      is_answer: before?.is_answer === true || (isPerson(actor) && isAnswer),
    });
  }
  return [...rows.values()];
}

/** Both times are ISO 8601 in UTC. */
function later(one: string | null | undefined, other: string): string {
  return one && one > other ? one : other;
}

interface PastOwner {
  readonly organization: string;
  readonly inbox_id: string;
  readonly contact_id: string;
}

/**
 * Records a message of the time before the inbox was connected. A contact without a conversation gets one
 * that is closed; nothing else of a conversation changes than the time of its latest message.
 * @returns the id of the conversation, which is locked until the commit.
 */
export async function recordPast(
  { tx, now }: Pick<Change, "tx" | "now">,
  { organization, inbox_id, contact_id }: PastOwner,
  at: string,
): Promise<string> {
  const created_at = now.toISOString();
  const { id } = await tx
    .insertInto("conversations")
    .values({
      organization_id: organization,
      id: newId("conv", now),
      inbox_id,
      contact_id,
      status: "closed",
      last_message_at: at,
      created_at,
      updated_at: created_at,
    })
    .onConflict((conflict) =>
      conflict.columns(["organization_id", "contact_id", "inbox_id"]).doUpdateSet({
        last_message_at: sql<string>`greatest(conversations.last_message_at, excluded.last_message_at)`,
      }),
    )
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Records that the bot has answered all that the contact wrote. The caller must have locked the conversation.
 */
export async function recordAnswer(
  { tx }: Change,
  { organization_id, id }: Pick<ConversationRow, "organization_id" | "id">,
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .updateTable("conversations")
    .set({ waiting_since: null })
    .where("id", "=", id)
    .execute();
}

/**
 * Records one message to each of these contacts from an inbox. Such a message ends no flow and opens no
 * conversation; a contact without a conversation gets one that is pending until the contact answers.
 * @returns the id of each contact's conversation, by the contact's id.
 */
export async function recordBulkOutbound(
  tx: Transaction,
  inboxContacts: InboxContacts,
): Promise<ReadonlyMap<string, string>> {
  const { organization, inbox_id, now } = inboxContacts;
  const at = now.toISOString();
  const rows = toNewConversations(inboxContacts);
  const { rows: recorded } = await rowsOf(columnsOf("conversations", "contact_id", "id"))`
    insert into conversations (organization_id, id, inbox_id, contact_id, status, opens_on_answer, last_message_at, created_at, updated_at)
    select ${organization}, id, ${inbox_id}, contact_id, 'pending', true, ${at}::timestamptz, ${at}::timestamptz, ${at}::timestamptz
    from ${recordset("contact", columnsOf("conversations", "contact_id", "id"), rows)}
    on conflict (organization_id, contact_id, inbox_id) do update
    set last_message_at = greatest(conversations.last_message_at, excluded.last_message_at), updated_at = excluded.updated_at
    returning contact_id, id
  `.execute(tx);
  return new Map(recorded.map(({ contact_id, id }) => [contact_id, id]));
}
