/** Reads whom a message goes to: an address, or the id of a contact or a conversation. */
import { type RawBuilder, sql } from "kysely";
import { failField } from "../../../../../tools/errors.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization, refersTo } from "../../../../database/query/index.ts";
import type { ChannelAddress } from "../../../../ports/channel/address.ts";
import { normalizePhone, readChannelAddress } from "../../../account/inboxes/index.ts";
import { phoneKind } from "../../../account/phone/index.ts";
import type { World } from "../../../foundation/kernel/index.ts";
import { requireAddress } from "../../contacts/index.ts";

interface Addressee {
  readonly to: string;
  readonly inbox_id?: string | undefined;
}

interface ReadAddress {
  readonly to: ChannelAddress;
  /** The inbox that was named, or else that of the conversation that was. */
  readonly inbox_id: string | undefined;
}

interface AddressContext {
  readonly db: Queries;
  readonly world: Pick<World, "channels">;
  readonly organization: string;
}

/**
 * @throws Failure `invalid_phone_number`, `contact_not_found`, `conversation_not_found`,
 * `contact_unreachable`.
 */
export async function readAddress(
  context: AddressContext,
  { to, inbox_id }: Addressee,
): Promise<ReadAddress> {
  const { db, world, organization } = context;
  const address = readChannelAddress(world, to);
  if (address) {
    return { to: address, inbox_id };
  }
  if (to.startsWith("con_")) {
    return { to: await readContact(context, to, inbox_id), inbox_id };
  }
  if (to.startsWith("conv_")) {
    return readConversation(context, to, inbox_id);
  }
  const value = await normalizePhone(db, organization, { text: to, field: "to", inbox_id });
  return { to: { kind: phoneKind, value }, inbox_id };
}

/** The contact's address on the channel of the inbox that will send the message. */
async function readContact(
  { db, world, organization }: AddressContext,
  id: string,
  inbox_id: string | undefined,
): Promise<ChannelAddress> {
  const contact = await ofOrganization(db, organization)
    .selectFrom("contacts")
    .select(["organization_id", "id", "phone_number", channelFor(inbox_id).as("channel")])
    .where("id", "=", id)
    .where("erased_at", "is", null)
    .executeTakeFirst();
  if (!contact) {
    throw failField("to", "contact_not_found");
  }
  return addressOf({ db, world }, contact);
}

interface ContactRow {
  readonly organization_id: string;
  readonly id: string;
  readonly phone_number: string | null;
  /** The channel of the inbox; null if that inbox does not exist, which the sending reports. */
  readonly channel: string | null;
}

async function addressOf(
  { db, world }: Pick<AddressContext, "db" | "world">,
  { channel, ...contact }: ContactRow,
): Promise<ChannelAddress> {
  return channel === null
    ? { kind: phoneKind, value: contact.phone_number ?? "" }
    : requireAddress(db, world, { contact, channel });
}

/** The channel of the named inbox, of the contact's latest conversation, or of the first inbox. */
function channelFor(inbox_id: string | undefined): RawBuilder<string | null> {
  return sql`(
    select channel from inboxes
    where inboxes.organization_id = contacts.organization_id and inboxes.id = coalesce(
      ${inbox_id ?? null}::text,
      (
        select conversations.inbox_id from conversations
        where conversations.organization_id = contacts.organization_id and conversations.contact_id = contacts.id
        order by coalesce(conversations.last_message_at, '-infinity') desc, conversations.inbox_id limit 1
      ),
      (select min(first.id) from inboxes as first where first.organization_id = contacts.organization_id)
    )
  )`;
}

async function readConversation(
  { db, world, organization }: AddressContext,
  id: string,
  inbox_id: string | undefined,
): Promise<ReadAddress> {
  const conversation = await ofOrganization(db, organization)
    .selectFrom("conversations")
    .innerJoin("contacts", (join) => join.on(refersTo("conversations.contact_id", "contacts")))
    .leftJoin("inboxes", (join) =>
      join
        .onRef("inboxes.organization_id", "=", "conversations.organization_id")
        .on("inboxes.id", "=", sql<string>`coalesce(${inbox_id ?? null}::text, conversations.inbox_id)`),
    )
    .select([
      "conversations.organization_id",
      "conversations.contact_id as id",
      "conversations.inbox_id",
      "contacts.phone_number",
      "inboxes.channel",
    ])
    .where("conversations.id", "=", id)
    .where("contacts.erased_at", "is", null)
    .executeTakeFirst();
  if (!conversation) {
    throw failField("to", "conversation_not_found");
  }
  const { inbox_id: ownInbox, ...contact } = conversation;
  return { to: await addressOf({ db, world }, contact), inbox_id: inbox_id ?? ownInbox };
}
