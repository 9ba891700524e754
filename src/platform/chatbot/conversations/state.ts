/**
 * Which conversations the bot has, one row for each.
 *
 * active: the bot answers. It begins by a message in an inbox of the bot, or by a flow. It ends when a person replies or is
 * assigned, by a hand-off, by the closing or by an erasure; then the bot is silent. A flow may give the conversation to it
 * again, and an inbox of the bot does so with the first message after the closing.
 */
import { type RawBuilder, sql } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { type ConversationRow, openIfPending, requestRouting } from "../../conversations/index.ts";
import type { Change, ErasedContact, Hooks, OrganizationChange } from "../../kernel/index.ts";

/** Why the bot's part ended. */
export type EndReason = "person_replied" | "assigned" | "handed_off" | "closed" | "contact_erased";

/** The statement that ends the bot's part in conversations; those in which it has none stay as they are. */
export function endStatement(
  organization_id: string,
  conversation_ids: readonly string[],
  { reason, now }: { readonly reason: EndReason; readonly now: Date },
): RawBuilder<unknown> {
  // An inbox of the bot asks whether the conversation was closed since.
  const concerned = reason === "closed" ? sql`true` : sql`state = 'active'`;
  return sql`
    update chatbot_conversations set state = 'ended', ended_reason = ${reason}, ended_at = ${now.toISOString()}::timestamptz
    where organization_id = ${organization_id} and conversation_id = any(${conversation_ids}::text[]) and ${concerned}`;
}

type ConversationKey = Pick<ConversationRow, "organization_id" | "id">;

/** The bot's part in a conversation; undefined if it never had one. */
export async function findPart(db: Queries, { organization_id, id }: ConversationKey) {
  return db
    .selectFrom("chatbot_conversations")
    .select(["state", "ended_reason"])
    .where("organization_id", "=", organization_id)
    .where("conversation_id", "=", id)
    .executeTakeFirst();
}

export async function isActive(db: Queries, conversation: ConversationKey): Promise<boolean> {
  return (await findPart(db, conversation))?.state === "active";
}

/** Looks for an agent, as a flow does that assigns without a target. */
export async function requestAgent(change: OrganizationChange, conversation: ConversationRow): Promise<void> {
  await requestRouting(change, conversation, "inbound");
  // Routing takes open conversations without an agent.
  await openIfPending(change, conversation.id);
}

/** Routing leaves these conversations to the bot. */
export const findHeldByBot: Hooks["heldByBot"] = async (db, { organization, conversation_ids }) => {
  const rows = await db
    .selectFrom("chatbot_conversations")
    .select("conversation_id")
    .where("organization_id", "=", organization)
    .where("state", "=", "active")
    .where(sql<boolean>`conversation_id = any(${conversation_ids}::text[])`)
    .execute();
  return new Set(rows.map(({ conversation_id }) => conversation_id));
};

export const endWhenTaken: Hooks["conversationsTaken"] = async (
  { tx, now }: Change,
  { organization, assigned, closed },
) => {
  if (assigned.length > 0) {
    await endStatement(organization, assigned, { reason: "assigned", now }).execute(tx);
  }
  if (closed.length > 0) {
    await endStatement(organization, closed, { reason: "closed", now }).execute(tx);
  }
};

export async function endForErased(
  { tx, now }: Change,
  { organization_id, conversation_ids }: ErasedContact,
): Promise<void> {
  await endStatement(organization_id, conversation_ids, { reason: "contact_erased", now }).execute(tx);
}
