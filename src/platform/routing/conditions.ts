/** Matches the conditions of policies against a conversation, its contact and the contact's latest message. */
import { sql } from "kysely";
import type { Queries } from "../../database/database.ts";
import { conversationAttributes, countryOf, matchesQuery, parseQuery } from "../query/index.ts";
import type { ConversationRow, Policy } from "./policy.ts";

/** @throws Failure of the query language, naming the place: `conditions.and[1].operator`. */
export function parseConditions(conditions: Readonly<Record<string, unknown>>) {
  return parseQuery(conditions, { field: "conditions", attributes: conversationAttributes });
}

/** The policies whose conditions the conversation meets, in their order. */
export async function matchPolicies(
  db: Queries,
  { conversation, policies, now }: { conversation: ConversationRow; policies: readonly Policy[]; now: Date },
): Promise<Policy[]> {
  const queries = policies.map((policy) => ({ policy, query: parseConditions(policy.conditions) }));
  // Most policies have no conditions: then nothing has to be read.
  const isUnconditional = policies.every(({ conditions }) => Object.keys(conditions).length === 0);
  const facts = isUnconditional ? {} : await readFacts(db, conversation);
  return queries.filter(({ query }) => matchesQuery(query, facts, now)).map(({ policy }) => policy);
}

async function readFacts(
  db: Queries,
  conversation: ConversationRow,
): Promise<Readonly<Record<string, unknown>>> {
  const contact = await db
    .selectFrom("contacts")
    .selectAll()
    .where("organization_id", "=", conversation.organization_id)
    .where("id", "=", conversation.contact_id)
    .executeTakeFirstOrThrow();
  const message = await db
    .selectFrom("messages")
    .select("type")
    .select(
      sql`coalesce(content #>> '{text,body}', content #>> '{media,caption}', content #>> '{reply,title}')`.as(
        "text",
      ),
    )
    .where("organization_id", "=", conversation.organization_id)
    .where("conversation_id", "=", conversation.id)
    .where("direction", "=", "inbound")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const { status, assigned_to, tags, inbox_id, is_favorite } = conversation;
  return {
    ...contact,
    country: countryOf(contact.phone_number),
    last_user_message_at: conversation.last_user_message_at,
    conversation: { status, assigned_to, tags, inbox_id, is_favorite },
    message,
  };
}
