/** Finds whom a message goes to: the contact, the inbox that sends it, and their conversation. */
import { type Selectable, sql } from "kysely";
import { fail, failField } from "../../../../../tools/errors.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization, onlyRow } from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import { together } from "../../../../database/transaction.ts";
import type { ChannelAddress } from "../../../../ports/channel/address.ts";
import { channelsWithKind, isOpenKind, requireKind } from "../../../account/inboxes/index.ts";
import type { Change } from "../../../foundation/kernel/index.ts";
import { createContact, idOfOwner, storedIdentity } from "../../contacts/index.ts";
import { findOrCreateConversation, type OutboundConversation } from "../../conversations/index.ts";

type Inbox = Pick<Selectable<Tables["inboxes"]>, "id" | "channel" | "phone_number" | "settings" | "health">;
type Contact = Pick<Selectable<Tables["contacts"]>, "id" | "name" | "opted_out" | "blocked_at">;

/** As the sender is told whom the message goes to. */
interface Addressee extends Pick<Contact, "id" | "name"> {
  readonly created: boolean;
}

export interface Recipient {
  /** Null if the contact is new. */
  readonly contact: Pick<Contact, "opted_out"> | null;
  readonly inbox: Inbox;
  readonly conversation: OutboundConversation;
}

interface Address {
  readonly organization: string;
  readonly to: ChannelAddress;
  /**
   * By default the inbox of the contact's latest conversation, or else the first one; of those whose channel
   * can write to the address.
   */
  readonly inbox_id: string | undefined;
}

interface FoundRows {
  readonly contact: Contact | null;
  readonly inbox: Inbox | null;
  readonly conversation: OutboundConversation | null;
}

/** What exists, read by one statement. The contact and the conversation are locked until the commit. */
export async function findRecipient(
  { tx, world }: Pick<Change, "tx" | "world">,
  { organization, to, inbox_id }: Address,
): Promise<FoundRows> {
  const requested = inbox_id ?? null;
  const channels = channelsWithKind(world, to);
  const isUsable = channels ? sql`channel = any(${channels}::text[])` : sql`true`;
  const isInUsableInbox =
    channels &&
    sql`and inbox_id in (select id from inboxes where organization_id = ${organization} and ${isUsable})`;
  const { rows } = await sql<FoundRow>`
    select contact.id as contact_id, contact.name, contact.opted_out, contact.blocked_at,
      inbox.id as inbox_id, inbox.channel, inbox.phone_number, inbox.settings, inbox.health,
      conversation.id as conversation_id,
      conversation.status, conversation.snoozed_until, conversation.opens_on_answer, conversation.last_user_message_at,
      conversation.may_be_automated
    from (select 1) as request
    left join lateral (
      select id, name, opted_out, blocked_at from contacts
      where organization_id = ${organization} and erased_at is null
        and id = ${contactIdOf(organization, to)}
      for key share
    ) as contact on true
    left join lateral (
      select * from conversations
      where organization_id = ${organization} and contact_id = contact.id
        and (${requested}::text is null or inbox_id = ${requested}) ${isInUsableInbox ?? sql``}
      -- Not by the column itself: the index of its order covers every conversation of the organization.
      order by coalesce(last_message_at, '-infinity') desc, inbox_id
      limit 1
      for no key update
    ) as conversation on true
    left join inboxes as inbox on inbox.organization_id = ${organization} and inbox.id = coalesce(
      conversation.inbox_id,
      ${requested},
      (select min(id) from inboxes where organization_id = ${organization} and ${isUsable})
    )
  `.execute(tx);
  const { contact_id, name, opted_out, blocked_at, inbox_id: id, conversation_id, ...row } = onlyRow(rows);
  const { channel, phone_number, settings, health, ...state } = row;
  return {
    contact: contact_id === null ? null : { id: contact_id, name, opted_out, blocked_at },
    inbox: id === null ? null : { id, channel, phone_number, settings, health },
    conversation:
      conversation_id === null ? null : { organization_id: organization, id: conversation_id, ...state },
  };
}

/** Of a contact, a conversation and an inbox that were not found, all columns are null. */
interface FoundRow
  extends Omit<Contact, "id">,
    Omit<Inbox, "id">,
    Omit<OutboundConversation, "organization_id" | "id"> {
  readonly contact_id: string | null;
  readonly inbox_id: string | null;
  readonly conversation_id: string | null;
}

/**
 * Creates what was not found: any phone number may be a recipient, but an id that the channel assigns must be
 * a contact's.
 * @throws Failure `contact_blocked`, `contact_not_found`, `no_inbox`, `inbox_not_found`,
 * `address_not_supported`.
 */
export async function createRecipient(
  change: Change,
  { contact, inbox, conversation }: FoundRows,
  { organization, to, inbox_id }: Address,
): Promise<Recipient & { readonly addressee: Addressee }> {
  if (contact && contact.blocked_at !== null) {
    throw failField("to", "contact_blocked", { contact_id: contact.id });
  }
  if (!contact && !isOpenKind(change.world, to)) {
    throw failField("to", "contact_not_found");
  }
  if (!inbox) {
    throw inbox_id === undefined ? fail("no_inbox") : fail("inbox_not_found", { param: "inbox_id" });
  }
  requireKind(change.world, inbox.channel, to);
  const { now } = change;
  const created = { organization, inbox_id: inbox.id, now };
  if (contact) {
    const { id, name } = contact;
    const known = conversation ?? (await findOrCreateConversation(change, { ...created, contact_id: id }));
    return { contact, inbox, conversation: known, addressee: { id, name, created: false } };
  }
  const identity = storedIdentity(to);
  const identities = { [to.kind]: to.value };
  // Another transaction may create the contact at the same time: the identity tells whose conversation it is.
  const [newContact, added] = await together(
    createContact(change, { organization, identities, now }, identity),
    findOrCreateConversation(change, { ...created, contact_id: idOfOwner(organization, identity) }),
  );
  const { id, name } = newContact ?? (await readContact(change.tx, added));
  return { contact, inbox, conversation: added, addressee: { id, name, created: newContact !== undefined } };
}

/** The contact that another transaction has created. */
async function readContact(
  db: Queries,
  { organization_id, contact_id }: { readonly organization_id: string; readonly contact_id: string },
): Promise<Pick<Contact, "id" | "name">> {
  return ofOrganization(db, organization_id)
    .selectFrom("contacts")
    .select(["id", "name"])
    .where("id", "=", contact_id)
    .executeTakeFirstOrThrow();
}

/** The id of the contact with this address, as part of a statement. */
export function contactIdOf(organization: string, to: ChannelAddress) {
  return idOfOwner(organization, storedIdentity(to));
}
