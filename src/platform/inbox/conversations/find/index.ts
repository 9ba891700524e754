/** Reads conversations by id: with the details that the API returns, or locked for a change. */
import { sql } from "kysely";
import { fail } from "../../../../../tools/errors.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization, refersTo } from "../../../../database/query/index.ts";
import { together } from "../../../../database/transaction.ts";
import { type Change, system, type Transaction, type World } from "../../../foundation/kernel/index.ts";
import type { ContactRow } from "../../contacts/index.ts";
import { unreadBy } from "../reads.ts";
import type { InboxContacts } from "./create.ts";
import { type ConversationRow, selectConversations } from "./select.ts";

export {
  findOrCreateConversation,
  findOrCreateConversations,
  type InboxContacts,
  lockOrCreateConversations,
  toNewConversations,
} from "./create.ts";
export { toConversationEvent } from "./event.ts";
export type { ConversationRow } from "./select.ts";

/**
 * A conversation as the API returns it, with `is_unread_by_me` for a reader, the id of a user.
 * @throws Failure `conversation_not_found`.
 */
export async function getConversationDetails(
  db: Queries,
  organization: string,
  { id, now, reader }: { readonly id: string; readonly now: Date; readonly reader?: string | undefined },
) {
  const conversation = await selectConversations(db, organization)
    .innerJoin("contacts", (join) => join.on(refersTo("conversations.contact_id", "contacts")))
    .innerJoin("inboxes", (join) => join.on(refersTo("conversations.inbox_id", "inboxes")))
    .leftJoin("users", (join) => join.on(refersTo("conversations.assigned_to", "users")))
    .selectAll("conversations")
    .select(["contacts.name as contact_name", "contacts.phone_number", "inboxes.platform"])
    .select("users.name as assigned_to_name")
    .$if(reader !== undefined, (query) =>
      query.select(unreadBy({ organization, reader: reader ?? "" }).as("is_unread_by_me")),
    )
    .where("conversations.id", "=", id)
    .executeTakeFirst();
  if (!conversation) {
    throw fail("conversation_not_found");
  }
  const { referrals, ...shown } = conversation;
  const came = referrals && { referrals };
  return { ...shown, ...came, ...unreadOf(conversation), ...windowOf(conversation, now) };
}

/** How long after the contact's last message free text may be sent. */
export const windowMs = 24 * 3_600_000;

/**
 * The window's state: it opens with the contact's first message and expires 24 hours after the latest one.
 */
export function windowOf(conversation: { last_user_message_at: string | null }, now: Date) {
  const { last_user_message_at } = conversation;
  if (last_user_message_at === null) {
    return { is_within_24h_window: false, window_expires_at: null, is_expired: false };
  }
  const expiresAt = Date.parse(last_user_message_at) + windowMs;
  const isOpen = now.getTime() < expiresAt;
  return {
    is_within_24h_window: isOpen,
    window_expires_at: new Date(expiresAt).toISOString(),
    is_expired: !isOpen,
  };
}

/** A conversation that was marked as read keeps its former count in the table. */
export function unreadOf({ is_unread, unread_count }: Pick<ConversationRow, "is_unread" | "unread_count">) {
  return { unread_count: is_unread ? unread_count : 0 };
}

/**
 * The conversation; undefined if there is none or its contact was erased. `locks` locks it until the commit.
 */
export async function findConversation(
  db: Queries,
  organization: string,
  id: string,
  { locks = false } = {},
): Promise<ConversationRow | undefined> {
  return selectConversations(db, organization)
    .selectAll()
    .where("id", "=", id)
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirst();
}

/** The same. @throws Failure `conversation_not_found`. */
export async function requireConversation(
  db: Queries,
  organization: string,
  id: string,
  { locks = false } = {},
): Promise<ConversationRow> {
  const conversation = await findConversation(db, organization, id, { locks });
  if (!conversation) {
    throw fail("conversation_not_found");
  }
  return conversation;
}

/** Locks the conversations that no other transaction has locked, until the commit, and returns them by id. */
export async function tryLockConversations(
  db: Queries,
  organization: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ConversationRow>> {
  const locked = await selectConversations(db, organization)
    .selectAll()
    .where((row) => row("id", "=", row.fn.any(row.val(ids))))
    .forUpdate()
    .skipLocked()
    .execute();
  return new Map(locked.map((conversation) => [conversation.id, conversation]));
}

/** Locks a conversation and runs `action` in a transaction of its own; does nothing if there is none. */
export async function withConversation(
  world: World,
  { organization_id, conversation_id }: { organization_id: string; conversation_id: string },
  action: (change: Change, conversation: ConversationRow) => Promise<void>,
): Promise<void> {
  await world.database.transaction(async (tx) => {
    const conversation = await findConversation(tx, organization_id, conversation_id, { locks: true });
    if (conversation) {
      await action({ tx, world, now: world.now(), actor: system }, conversation);
    }
  });
}

/** A conversation and its contact, both locked until the commit. */
export interface Subject {
  readonly contact: ContactRow;
  readonly conversation: ConversationRow;
  /** The channel of the conversation's inbox. */
  readonly channel: string;
}

/** A subject whose parts are undefined if the contact was erased. */
export type LockedSubject = { readonly [Part in keyof Subject]: Subject[Part] | undefined };

interface SubjectIds {
  readonly contact_id: string;
  readonly conversation_id: string;
}

/**
 * Locks the contact and then the conversation until the commit, as an inbound message and an erasure do. Each
 * is undefined if the contact was erased.
 */
export async function lockSubject(
  tx: Transaction,
  { organization_id, ...ids }: SubjectIds & { readonly organization_id: string },
): Promise<LockedSubject> {
  const subjectOf = await lockSubjects(tx, organization_id, { subjects: [ids], waitsForLocks: true });
  return subjectOf(ids);
}

/**
 * The same for several subjects. Without `waitsForLocks`, the parts that other transactions have locked are
 * undefined too.
 */
export async function lockSubjects(
  tx: Transaction,
  organization: string,
  { subjects, waitsForLocks }: { readonly subjects: readonly SubjectIds[]; readonly waitsForLocks: boolean },
): Promise<(ids: SubjectIds) => LockedSubject> {
  const channelOfInbox = sql<string>`(
    select inboxes.channel from inboxes
    where inboxes.organization_id = conversations.organization_id and inboxes.id = conversations.inbox_id
  )`;
  const contactIds = subjects.map(({ contact_id }) => contact_id);
  const conversationIds = subjects.map(({ conversation_id }) => conversation_id);
  const [contacts, conversations] = await together(
    ofOrganization(tx, organization)
      .selectFrom("contacts")
      .selectAll()
      .where(sql<boolean>`id = any(${contactIds}::text[])`)
      .where("erased_at", "is", null)
      .orderBy("id")
      .forNoKeyUpdate()
      .$if(!waitsForLocks, (rows) => rows.skipLocked())
      .execute(),
    selectConversations(tx, organization)
      .selectAll()
      .select(channelOfInbox.as("channel"))
      .where(sql<boolean>`id = any(${conversationIds}::text[])`)
      .orderBy("id")
      .forUpdate()
      .$if(!waitsForLocks, (rows) => rows.skipLocked())
      .execute(),
  );
  const contactById = new Map(contacts.map((contact) => [contact.id, contact]));
  const conversationById = new Map(conversations.map((conversation) => [conversation.id, conversation]));
  return ({ contact_id, conversation_id }) => {
    const contact = contactById.get(contact_id);
    const found = conversationById.get(conversation_id);
    if (!found) {
      return { contact, conversation: undefined, channel: undefined };
    }
    const { channel, ...conversation } = found;
    return { contact, conversation, channel };
  };
}

/** The same, by the conversation alone; undefined if there is none, or its contact was erased. */
export async function lockConversationSubject(
  tx: Transaction,
  organization_id: string,
  conversation_id: string,
): Promise<Subject | undefined> {
  const subjectOf = await lockConversationSubjects(tx, organization_id, {
    ids: [conversation_id],
    waitsForLocks: true,
  });
  const subject = subjectOf(conversation_id);
  return subject === "locked" ? undefined : subject;
}

/**
 * The same for several conversations. Without `waitsForLocks`, the result is "locked" if another transaction
 * has locked the conversation or its contact.
 */
export async function lockConversationSubjects(
  tx: Transaction,
  organization: string,
  { ids, waitsForLocks }: { readonly ids: readonly string[]; readonly waitsForLocks: boolean },
): Promise<(id: string) => Subject | "locked" | undefined> {
  const found = await selectConversations(tx, organization)
    .select(["id as conversation_id", "contact_id"])
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
  const subjectOf = await lockSubjects(tx, organization, { subjects: found, waitsForLocks });
  const foundById = new Map(found.map((one) => [one.conversation_id, one]));
  return (id) => {
    const one = foundById.get(id);
    const { contact, conversation, channel } = one ? subjectOf(one) : noSubject;
    if (contact && conversation && channel) {
      return { contact, conversation, channel };
    }
    return one && !waitsForLocks ? "locked" : undefined;
  };
}

const noSubject: LockedSubject = { contact: undefined, conversation: undefined, channel: undefined };

/** The conversations that are not erased, locked until the commit in the order of their ids. */
export async function lockConversations(
  tx: Transaction,
  organization: string,
  ids: readonly string[],
): Promise<readonly ConversationRow[]> {
  return selectConversations(tx, organization)
    .selectAll()
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .orderBy("id")
    .forUpdate()
    .execute();
}

/** Locks those conversations of contacts with an inbox that exist, until the commit. */
export async function lockInboxConversations(
  tx: Transaction,
  { organization, inbox_id, contact_ids }: Omit<InboxContacts, "now">,
): Promise<void> {
  await ofOrganization(tx, organization)
    .selectFrom("conversations")
    .select("id")
    .where("inbox_id", "=", inbox_id)
    .where(sql<boolean>`contact_id = any(${contact_ids}::text[])`)
    .orderBy("contact_id")
    .forNoKeyUpdate()
    .execute();
}
