/**
 * Matches the conditions of policies against a conversation, its contact and the contact's latest message.
 */
import type { Selectable } from "kysely";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import { countryOf } from "../../account/phone/index.ts";
import { defineHook, type World } from "../../foundation/kernel/index.ts";
import {
  attributesOf,
  conversationAttributes,
  matchesQuery,
  parseQuery,
} from "../../foundation/query/index.ts";
import type { Policy, RoutedConversation } from "./policy.ts";

/** @throws Failure of the query language, naming the place: `conditions.and[1].operator`. */
export function parseConditions(conditions: Readonly<Record<string, unknown>>) {
  return parseQuery(conditions, { field: "conditions", attributes: conversationAttributes });
}

/** What conditions are evaluated with, by conversation. */
export type ConversationFacts = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/**
 * The policies whose conditions the conversation meets, in their order.
 * @param facts about the conversation.
 */
export function matchPolicies(
  facts: ConversationFacts,
  {
    conversation,
    policies,
    now,
  }: { conversation: RoutedConversation; policies: readonly Policy[]; now: Date },
): Policy[] {
  return policies.filter((policy) => {
    const own = facts.get(conversation.id);
    if (!own && hasConditions(policy)) {
      throw new Error(`The facts of ${conversation.id} were not read.`);
    }
    return matchesQuery(parseConditions(policy.conditions), own ?? {}, now);
  });
}

/** The latest message that the contact of a conversation wrote. */
export interface LatestMessage {
  readonly conversation_id: string;
  readonly type: string;
  readonly text: string | null;
}

/** The latest inbound messages of conversations, for conditions on them. Not an event: it is a question. */
export const latestMessages = defineHook<
  [
    db: Queries,
    conversations: { readonly organization: string; readonly conversation_ids: readonly string[] },
  ],
  readonly LatestMessage[]
>();

/** Reads the facts of any number of conversations of one organization. */
export async function readFacts(
  { db, world }: { readonly db: Queries; readonly world: Pick<World, "hooks"> },
  conversations: readonly RoutedConversation[],
  policies: readonly Policy[],
): Promise<ConversationFacts> {
  const [first] = conversations;
  // Most policies have no conditions: then nothing has to be read.
  if (!first || !policies.some(hasConditions)) {
    return new Map();
  }
  const { organization_id: organization } = first;
  const conversation_ids = conversations.map(({ id }) => id);
  const contacts = await ofOrganization(db, organization)
    .selectFrom("contacts")
    .selectAll()
    .where("id", "in", [...new Set(conversations.map(({ contact_id }) => contact_id))])
    .execute();
  const messages = policies.some(asksForMessage)
    ? (await latestMessages.run(world, db, { organization, conversation_ids })).flat()
    : [];
  const contactOf = new Map(contacts.map((contact) => [contact.id, contact]));
  const messageOf = new Map(messages.map(({ conversation_id, ...message }) => [conversation_id, message]));
  return new Map(
    conversations.flatMap((conversation) => {
      const contact = contactOf.get(conversation.contact_id);
      const message = messageOf.get(conversation.id);
      return contact ? [[conversation.id, factsOf(conversation, { contact, message })] as const] : [];
    }),
  );
}

function asksForMessage({ conditions }: Policy): boolean {
  return attributesOf(parseConditions(conditions)).some((name) => name.startsWith("message."));
}

function hasConditions({ conditions }: Policy): boolean {
  return Object.keys(conditions).length > 0;
}

/** The columns of a contact that conditions can use. */
export type RoutedContact = Pick<
  Selectable<Tables["contacts"]>,
  "name" | "phone_number" | "tags" | "metadata" | "opted_out" | "blocked_at" | "created_at" | "updated_at"
>;

/** What conditions can use, of a conversation and its contact. */
export function factsOf(
  conversation: RoutedConversation,
  {
    contact,
    message,
  }: {
    readonly contact: RoutedContact;
    readonly message: { readonly type: string; readonly text: string | null } | undefined;
  },
): Readonly<Record<string, unknown>> {
  const { status, assigned_to, tags, inbox_id, is_favorite } = conversation;
  const { last_message_at, last_user_message_at, referrals } = conversation;
  const referral_id = referrals?.latest.source_id ?? null;
  return {
    ...contact,
    blocked: contact.blocked_at !== null,
    country: countryOf(contact.phone_number),
    last_user_message_at,
    conversation: {
      status,
      assigned_to,
      tags,
      inbox_id,
      is_favorite,
      referral_id,
      last_message_at,
      last_user_message_at,
    },
    message,
  };
}
