/** One thread: found, locked, and shown. */
import { fail } from "../../../tools/errors.ts";
import type { Queries } from "../../database/database.ts";
import { refersTo } from "../../database/query/index.ts";
import { threads } from "./list.ts";
import type { Thread } from "./move.ts";
import { windowOf } from "./window.ts";

/** A conversation as it is shown. @throws Failure `conversation_not_found`. */
export async function showThread(db: Queries, organization: string, { id, now }: { id: string; now: Date }) {
  const found = await threads(db, organization)
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

/** The thread, locked until the commit if asked; undefined when there is none or its contact was erased. */
export async function findThread(
  db: Queries,
  organization: string,
  id: string,
  { locks = false } = {},
): Promise<Thread | undefined> {
  return threads(db, organization)
    .selectAll()
    .where("id", "=", id)
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirst();
}

/** Those of the threads that nobody else holds just now, by id, locked until the commit. */
export async function holdThreads(
  db: Queries,
  organization: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Thread>> {
  const held = await threads(db, organization)
    .selectAll()
    .where((row) => row("id", "=", row.fn.any(row.val(ids))))
    .forUpdate()
    .skipLocked()
    .execute();
  return new Map(held.map((thread) => [thread.id, thread]));
}

/** The same for whoever was asked for it. @throws Failure `conversation_not_found`. */
export async function requireThread(
  db: Queries,
  organization: string,
  id: string,
  { locks = false } = {},
): Promise<Thread> {
  const thread = await findThread(db, organization, id, { locks });
  if (!thread) {
    throw fail("conversation_not_found");
  }
  return thread;
}

export async function findTeam(db: Queries, organization: string, id: string) {
  return db
    .selectFrom("teams")
    .select(["id", "name"])
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .executeTakeFirst();
}
