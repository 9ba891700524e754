/** Which conversations a policy is for: its conditions, asked of the conversation, its contact and what they wrote last. */
import type { Queries } from "../../database/database.ts";
import { conversationAttributes, countryOf, matches, parseQuery } from "../query/index.ts";
import type { Policy, Thread } from "./policy.ts";

/** @throws Failure of the query language, naming the place: `conditions.and[1].operator`. */
export function parseConditions(conditions: Readonly<Record<string, unknown>>) {
  return parseQuery(conditions, { field: "conditions", attributes: conversationAttributes });
}

/** Those of the policies that are for this conversation, in their order. */
export async function matchPolicies(
  db: Queries,
  { thread, policies, now }: { thread: Thread; policies: readonly Policy[]; now: Date },
): Promise<Policy[]> {
  const queries = policies.map((policy) => ({ policy, query: parseConditions(policy.conditions) }));
  // Most policies ask nothing: then there is nothing to look up.
  const asksNothing = policies.every(({ conditions }) => Object.keys(conditions).length === 0);
  const facts = asksNothing ? {} : await readFacts(db, thread);
  return queries.filter(({ query }) => matches(query, facts, now)).map(({ policy }) => policy);
}

async function readFacts(db: Queries, thread: Thread): Promise<Readonly<Record<string, unknown>>> {
  const contact = await db
    .selectFrom("contacts")
    .selectAll()
    .where("organization_id", "=", thread.organization_id)
    .where("id", "=", thread.contact_id)
    .executeTakeFirstOrThrow();
  const message = await db
    .selectFrom("messages")
    .select(["type", "content"])
    .where("organization_id", "=", thread.organization_id)
    .where("conversation_id", "=", thread.id)
    .where("direction", "=", "inbound")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const { status, assigned_to, tags, inbox_id, is_favorite } = thread;
  return {
    ...contact,
    country: countryOf(contact.phone_number),
    last_user_message_at: thread.last_user_message_at,
    conversation: { status, assigned_to, tags, inbox_id, is_favorite },
    message: { type: message?.type, text: textOf(message?.content) },
  };
}

/** What the contact wrote: a text, or the words under a file. */
function textOf(content: Readonly<Record<string, unknown>> | undefined): string | undefined {
  // Written by the messages module from a checked message.
  const { text, media, reply } = (content ?? {}) as {
    text?: { body: string };
    media?: { caption: string | null };
    reply?: { title: string };
  };
  return text?.body ?? media?.caption ?? reply?.title;
}
