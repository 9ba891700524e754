/** Matches the conditions of policies against a conversation, its contact and the contact's latest message. */
import { type Selectable, sql } from "kysely";
import type { Queries } from "../../database/database.ts";
import type { Tables } from "../../database/schema/index.ts";
import { conversationAttributes, countryOf, matchesQuery, parseQuery } from "../query/index.ts";
import type { ConversationRow, Policy } from "./policy.ts";

/** @throws Failure of the query language, naming the place: `conditions.and[1].operator`. */
export function parseConditions(conditions: Readonly<Record<string, unknown>>) {
  return parseQuery(conditions, { field: "conditions", attributes: conversationAttributes });
}

/** What conditions are evaluated with, by conversation. */
export type ConversationFacts = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** The policies whose conditions the conversation meets, in their order. `facts` are those of the conversation. */
export function matchPolicies(
  facts: ConversationFacts,
  { conversation, policies, now }: { conversation: ConversationRow; policies: readonly Policy[]; now: Date },
): Policy[] {
  return policies.filter((policy) => {
    const own = facts.get(conversation.id);
    if (!own && hasConditions(policy)) {
      throw new Error(`The facts of ${conversation.id} were not read.`);
    }
    return matchesQuery(parseConditions(policy.conditions), own ?? {}, now);
  });
}

/** Reads the facts of any number of conversations of one organization with one query. */
export async function readFacts(
  db: Queries,
  conversations: readonly ConversationRow[],
  policies: readonly Policy[],
): Promise<ConversationFacts> {
  const [first] = conversations;
  // Most policies have no conditions: then nothing has to be read.
  if (!first || !policies.some(hasConditions)) {
    return new Map();
  }
  const wanted = conversations.map(({ id, contact_id }) => ({ conversation_id: id, contact_id }));
  const { rows } = await sql<FactsRow>`
    select wanted.conversation_id, contact.*, latest.type as message_type, latest.text as message_text
    from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as wanted (conversation_id text, contact_id text)
    cross join lateral (
      select * from contacts where organization_id = ${first.organization_id} and id = wanted.contact_id limit 1
    ) as contact
    left join lateral (
      select type,
        coalesce(content #>> '{text,body}', content #>> '{media,caption}', content #>> '{reply,title}') as text
      from messages
      where organization_id = ${first.organization_id} and conversation_id = wanted.conversation_id
        and direction = 'inbound'
      order by id desc limit 1
    ) as latest on true
  `.execute(db);
  const byId = new Map(rows.map((row) => [row.conversation_id, row]));
  return new Map(
    conversations.flatMap((conversation) => {
      const row = byId.get(conversation.id);
      return row ? [[conversation.id, toFacts(conversation, row)] as const] : [];
    }),
  );
}

function hasConditions({ conditions }: Policy): boolean {
  return Object.keys(conditions).length > 0;
}

/** The contact of a conversation, and its latest message. */
interface FactsRow extends Selectable<Tables["contacts"]> {
  readonly conversation_id: string;
  readonly message_type: string | null;
  readonly message_text: string | null;
}

function toFacts(conversation: ConversationRow, row: FactsRow): Readonly<Record<string, unknown>> {
  const { conversation_id: _, message_type: type, message_text: text, ...contact } = row;
  return factsOf(conversation, { contact, message: type === null ? undefined : { type, text } });
}

/** What conditions can use, of a conversation and its contact. */
export function factsOf(
  conversation: ConversationRow,
  {
    contact,
    message,
  }: {
    readonly contact: Selectable<Tables["contacts"]>;
    readonly message: { readonly type: string; readonly text: string | null } | undefined;
  },
): Readonly<Record<string, unknown>> {
  const { status, assigned_to, tags, inbox_id, is_favorite } = conversation;
  const { last_message_at, last_user_message_at } = conversation;
  return {
    ...contact,
    blocked: contact.blocked_at !== null,
    country: countryOf(contact.phone_number),
    last_user_message_at,
    conversation: { status, assigned_to, tags, inbox_id, is_favorite, last_message_at, last_user_message_at },
    message,
  };
}
