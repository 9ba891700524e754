/** One thread, found and shown. */
import { fail } from "../../../tools/failure.ts";
import type { Queries } from "../../database/database.ts";
import { threads } from "./list.ts";
import { windowOf } from "./window.ts";

/** A conversation as it is shown. @throws Failure `conversation_not_found`. */
export async function showThread(db: Queries, organization: string, { id, now }: { id: string; now: Date }) {
  const found = await threads(db, organization)
    .innerJoin("contacts", (join) =>
      join
        .onRef("contacts.organization_id", "=", "conversations.organization_id")
        .onRef("contacts.id", "=", "conversations.contact_id"),
    )
    .innerJoin("inboxes", (join) =>
      join
        .onRef("inboxes.organization_id", "=", "conversations.organization_id")
        .onRef("inboxes.id", "=", "conversations.inbox_id"),
    )
    .leftJoin("users", (join) =>
      join
        .onRef("users.organization_id", "=", "conversations.organization_id")
        .onRef("users.id", "=", "conversations.assigned_to"),
    )
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
