/**
 * Reads whom a message goes to: a phone number, a business-scoped id, or the id of a
 * contact or a conversation.
 */
import { failField } from "../../../../../tools/errors.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization, refersTo } from "../../../../database/query/index.ts";
import { normalizePhone } from "../../../account/inboxes/index.ts";
import { isBsuid, requireAddress } from "../../contacts/index.ts";

interface Addressee {
  readonly to: string;
  readonly inbox_id?: string | undefined;
}

interface Address {
  /** A number in E.164 form, or a business-scoped id. */
  readonly to: string;
  /** The inbox that was named, or else that of the conversation that was. */
  readonly inbox_id: string | undefined;
}

/**
 * @throws Failure `invalid_phone_number`, `contact_not_found`, `conversation_not_found`,
 * `contact_unreachable`.
 */
export async function readAddress(
  db: Queries,
  organization: string,
  { to, inbox_id }: Addressee,
): Promise<Address> {
  if (isBsuid(to)) {
    return { to, inbox_id };
  }
  if (to.startsWith("con_")) {
    return { to: await readContact(db, organization, to), inbox_id };
  }
  if (to.startsWith("conv_")) {
    const conversation = await readConversation(db, organization, to);
    return { to: conversation.to, inbox_id: inbox_id ?? conversation.inbox_id };
  }
  return { to: await normalizePhone(db, organization, { text: to, field: "to", inbox_id }), inbox_id };
}

async function readContact(db: Queries, organization: string, id: string): Promise<string> {
  const contact = await ofOrganization(db, organization)
    .selectFrom("contacts")
    .select(["phone_number", "bsuid"])
    .where("id", "=", id)
    .where("erased_at", "is", null)
    .executeTakeFirst();
  if (!contact) {
    throw failField("to", "contact_not_found");
  }
  return requireAddress(contact);
}

async function readConversation(
  db: Queries,
  organization: string,
  id: string,
): Promise<{ readonly to: string; readonly inbox_id: string }> {
  const conversation = await ofOrganization(db, organization)
    .selectFrom("conversations")
    .innerJoin("contacts", (join) => join.on(refersTo("conversations.contact_id", "contacts")))
    .select(["conversations.inbox_id", "contacts.phone_number", "contacts.bsuid"])
    .where("conversations.id", "=", id)
    .where("contacts.erased_at", "is", null)
    .executeTakeFirst();
  if (!conversation) {
    throw failField("to", "conversation_not_found");
  }
  return { to: requireAddress(conversation), inbox_id: conversation.inbox_id };
}
