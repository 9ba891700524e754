/**
 * Which conversations the bot has, one row for each.
 *
 * active: the bot answers. This state begins with a message in an inbox of the bot, or with a flow. It ends
 * when a person replies or is assigned, when the conversation is handed off, closed or erased, or when the
 * bot is switched off; then the bot is silent. A flow may give the conversation to the bot again, and an
 * inbox of the bot does so with the first message after the conversation was closed or the bot was switched
 * on.
 */

import { type RawBuilder, sql } from "kysely";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization } from "../../../../database/query/index.ts";
import type { Change, OrganizationChange } from "../../../foundation/kernel/index.ts";
import type { ErasedContact } from "../../../inbox/contacts/index.ts";
import {
  type ConversationRow,
  openIfPending,
  requestRouting,
  type TakenConversations,
} from "../../../inbox/conversations/index.ts";

/** Why the bot's part ended. */
type EndReason = "person_replied" | "assigned" | "contact_erased" | "switched_off";

/** After these ends, the contact's next message may begin the bot's part again. */
export const resumableReasons: readonly (string | null)[] = ["closed", "switched_off"];

/**
 * The statement that ends the bot's part in conversations, also a part that could begin again when the bot is
 * switched on. Conversations in which the bot has no part stay as they are.
 */
export function endStatement(
  organization_id: string,
  conversation_ids: readonly string[],
  { reason, now }: { readonly reason: EndReason; readonly now: Date },
): RawBuilder<unknown> {
  return sql`
    update chatbot_conversations set state = 'ended', ended_reason = ${reason}, ended_at = ${now.toISOString()}::timestamptz
    where organization_id = ${organization_id} and conversation_id = any(${conversation_ids}::text[])
      and (state = 'active' or ended_reason = 'switched_off')`;
}

/** Ends the bot's part by a hand-off, also if the bot has answered only through chat_with_bot. */
export async function endByHandOff(
  { tx, now }: Change,
  { organization_id, id: conversation_id, contact_id }: ConversationRow,
): Promise<void> {
  const at = now.toISOString();
  const ended = { state: "ended", ended_at: at, ended_reason: "handed_off" } as const;
  await tx
    .insertInto("chatbot_conversations")
    .values({ organization_id, conversation_id, contact_id, started_by: "flow", since: at, ...ended })
    .onConflict((conflict) => conflict.columns(["organization_id", "conversation_id"]).doUpdateSet(ended))
    .execute();
}

/**
 * Ends the bot's part in closed conversations. Also records the closing of conversations without a part,
 * because their inbox may need it.
 */
function closeStatement(
  organization_id: string,
  conversation_ids: readonly string[],
  now: Date,
): RawBuilder<unknown> {
  const at = sql`${now.toISOString()}::timestamptz`;
  return sql`
    insert into chatbot_conversations (
      organization_id, conversation_id, contact_id, state, started_by, since, ended_at, ended_reason
    )
    select conversations.organization_id, conversations.id, contact_id, 'ended', 'inbox', ${at}, ${at}, 'closed'
    from conversations join chatbot_configs on chatbot_configs.organization_id = conversations.organization_id
    where conversations.organization_id = ${organization_id} and conversations.id = any(${conversation_ids}::text[])
    on conflict (organization_id, conversation_id)
    do update set state = 'ended', ended_reason = 'closed', ended_at = excluded.ended_at`;
}

type ConversationKey = Pick<ConversationRow, "organization_id" | "id">;

/** The bot's part in a conversation; undefined if it never had one. */
export async function findPart(db: Queries, { organization_id, id }: ConversationKey) {
  return ofOrganization(db, organization_id)
    .selectFrom("chatbot_conversations")
    .select(["state", "ended_reason"])
    .where("conversation_id", "=", id)
    .executeTakeFirst();
}

/**
 * Whether a person or an API key has answered the contact since the bot's part last ended. Reads rows of
 * `conversations` and `state`. A message that they sent before the contact wrote, such as a notification,
 * is no answer.
 */
export const isWithPerson = sql`exists (
  select from messages as answer
  where answer.organization_id = conversations.organization_id and answer.conversation_id = conversations.id
    and answer.direction = 'outbound' and answer.sent_by ->> 'type' in ('user', 'api_key', 'phone')
    and answer.created_at > coalesce(state.ended_at, '-infinity')
    and exists (
      select from messages as asked
      where asked.organization_id = conversations.organization_id and asked.conversation_id = conversations.id
        and asked.direction = 'inbound' and asked.id < answer.id
        and asked.created_at >= coalesce(state.ended_at, '-infinity')
    )
)`;

export async function hasPersonAnswered(
  db: Queries,
  { organization_id, id }: ConversationKey,
): Promise<boolean> {
  const { rows } = await sql`
    select from conversations
    left join chatbot_conversations as state on state.organization_id = conversations.organization_id
      and state.conversation_id = conversations.id
    where conversations.organization_id = ${organization_id} and conversations.id = ${id} and ${isWithPerson}
  `.execute(db);
  return rows.length > 0;
}

export async function isActive(db: Queries, conversation: ConversationKey): Promise<boolean> {
  return (await findPart(db, conversation))?.state === "active";
}

/** Requests an agent, as a flow does that assigns without a target. */
export async function requestAgent(change: OrganizationChange, conversation: ConversationRow): Promise<void> {
  await requestRouting(change, [conversation], "inbound");
  // Routing takes open conversations without an agent.
  await openIfPending(change, conversation.id);
}

/** Finds the conversations that routing leaves to the bot: none while the bot is switched off. */
export async function findHeldByBot(
  db: Queries,
  {
    organization,
    conversation_ids,
  }: { readonly organization: string; readonly conversation_ids: readonly string[] },
): Promise<ReadonlySet<string>> {
  const rows = await ofOrganization(db, organization)
    .selectFrom("chatbot_conversations")
    .innerJoin("chatbot_configs", "chatbot_configs.organization_id", "chatbot_conversations.organization_id")
    .select("conversation_id")
    .where("chatbot_configs.is_active", "=", true)
    .where("state", "=", "active")
    .where(sql<boolean>`conversation_id = any(${conversation_ids}::text[])`)
    .execute();
  return new Set(rows.map(({ conversation_id }) => conversation_id));
}

export async function endWhenTaken(
  { tx, now }: Change,
  { organization, assigned = [], closed = [], answered = [] }: TakenConversations,
): Promise<void> {
  if (assigned.length > 0) {
    await endStatement(organization, assigned, { reason: "assigned", now }).execute(tx);
  }
  if (closed.length > 0) {
    await closeStatement(organization, closed, now).execute(tx);
  }
  if (answered.length > 0) {
    await endStatement(organization, answered, { reason: "person_replied", now }).execute(tx);
  }
}

export async function endForErased(
  { tx, now }: Change,
  { organization_id, conversation_ids }: ErasedContact,
): Promise<void> {
  await endStatement(organization_id, conversation_ids, { reason: "contact_erased", now }).execute(tx);
}
