/** One conversation: found, locked, and shown. */
import { fail } from "../../../tools/errors.ts";
import type { Queries } from "../../database/database.ts";
import { refersTo } from "../../database/query/index.ts";
import type { Thread } from "./change.ts";
import { selectConversations } from "./list.ts";
import { windowOf } from "./window.ts";

/** A conversation as it is shown. @throws Failure `conversation_not_found`. */
export async function getConversationDetails(
  db: Queries,
  organization: string,
  { id, now }: { id: string; now: Date },
) {
  const found = await selectConversations(db, organization)
    .innerJoin("contacts", (join) => join.on(refersTo("conversations.contact_id", "contacts")))
    .innerJoin("inboxes", (join) => join.on(refersTo("conversations.inbox_id", "inboxes")))
    .leftJoin("users", (join) => join.on(refersTo("conversations.assigned_to", "users")))
    .selectAll("conversations")
    .select(["contacts.name as contact_name", "contacts.phone_number", "inboxes.platform"])
    .select("users.name as assigned_to_name")
    .where("conversations.id", "=", id)
    .executeTakeFirst();
  if (!found) {
    throw fail("conversation_not_found");
  }
  return { ...found, ...windowOf(found, now) };
}

/** The conversation, locked until the commit if asked; undefined when there is none or its contact was erased. */
export async function findConversation(
  db: Queries,
  organization: string,
  id: string,
  { locks = false } = {},
): Promise<Thread | undefined> {
  return selectConversations(db, organization)
    .selectAll()
    .where("id", "=", id)
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirst();
}

/** Those of the conversations that nobody else holds just now, by id, locked until the commit. */
export async function tryLockConversations(
  db: Queries,
  organization: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Thread>> {
  const held = await selectConversations(db, organization)
    .selectAll()
    .where((row) => row("id", "=", row.fn.any(row.val(ids))))
    .forUpdate()
    .skipLocked()
    .execute();
  return new Map(held.map((conversation) => [conversation.id, conversation]));
}

/** The same for whoever was asked for it. @throws Failure `conversation_not_found`. */
export async function requireConversation(
  db: Queries,
  organization: string,
  id: string,
  { locks = false } = {},
): Promise<Thread> {
  const conversation = await findConversation(db, organization, id, { locks });
  if (!conversation) {
    throw fail("conversation_not_found");
  }
  return conversation;
}

export async function findTeam(db: Queries, organization: string, id: string) {
  return db
    .selectFrom("teams")
    .select(["id", "name"])
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .executeTakeFirst();
}
