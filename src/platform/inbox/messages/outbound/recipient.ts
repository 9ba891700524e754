/** Finds whom a message goes to: the contact, the inbox that sends it, and their conversation. */
import { type Selectable, sql } from "kysely";
import { fail, failField } from "../../../../../tools/errors.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization, onlyRow } from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import { together } from "../../../../database/transaction.ts";
import { phoneKey } from "../../../account/phone/index.ts";
import type { Change, Transaction } from "../../../foundation/kernel/index.ts";
import { createContact, type Identity, isBsuid } from "../../contacts/index.ts";
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
  /** A number in E.164 form, or a business-scoped id. */
  readonly to: string;
  /** By default the inbox of the contact's latest conversation, or else the first one. */
  readonly inbox_id: string | undefined;
}

interface FoundRows {
  readonly contact: Contact | null;
  readonly inbox: Inbox | null;
  readonly conversation: OutboundConversation | null;
}

/** What exists, read by one statement. The contact and the conversation are locked until the commit. */
export async function findRecipient(
  tx: Transaction,
  { organization, to, inbox_id }: Address,
): Promise<FoundRows> {
  const requested = inbox_id ?? null;
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
        and (${requested}::text is null or inbox_id = ${requested})
      -- Not by the column itself: the index of its order covers every conversation of the organization.
      order by coalesce(last_message_at, '-infinity') desc, inbox_id
      limit 1
      for no key update
    ) as conversation on true
    left join inboxes as inbox on inbox.organization_id = ${organization} and inbox.id = coalesce(
      conversation.inbox_id,
      ${requested},
      (select min(id) from inboxes where organization_id = ${organization})
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
 * Creates what was not found: any phone number may be a recipient, but a business-scoped id, which the
 * channel assigns, must be a contact's.
 * @throws Failure `contact_blocked`, `contact_not_found`, `no_inbox`, `inbox_not_found`.
 */
export async function createRecipient(
  change: Change,
  { contact, inbox, conversation }: FoundRows,
  { organization, to, inbox_id }: Address,
): Promise<Recipient & { readonly addressee: Addressee }> {
  if (contact && contact.blocked_at !== null) {
    throw failField("to", "contact_blocked", { contact_id: contact.id });
  }
  if (!contact && isBsuid(to)) {
    throw failField("to", "contact_not_found");
  }
  if (!inbox) {
    throw inbox_id === undefined ? fail("no_inbox") : fail("inbox_not_found", { param: "inbox_id" });
  }
  const { now } = change;
  const created = { organization, inbox_id: inbox.id, now };
  if (contact) {
    const { id, name } = contact;
    const known = conversation ?? (await findOrCreateConversation(change, { ...created, contact_id: id }));
    return { contact, inbox, conversation: known, addressee: { id, name, created: false } };
  }
  const identity = identityOf(to);
  // Another transaction may create the contact at the same time: the identity tells whose conversation it is.
  const [newContact, added] = await together(
    createContact(change, { organization, phone_number: to, now }, identity),
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

/** The id of the contact with this number or business-scoped id, as part of a statement. */
export function contactIdOf(organization: string, to: string) {
  return idOfOwner(organization, identityOf(to));
}

/** The id of the contact that has this identity, as part of a statement. */
function idOfOwner(organization: string, { kind, value }: Identity) {
  return sql<string>`(
    select contact_id from contact_identities
    where organization_id = ${organization} and kind = ${kind} and value = ${value}
  )`;
}

function identityOf(to: string): Identity {
  return isBsuid(to) ? { kind: "bsuid", value: to } : { kind: "phone", value: phoneKey(to) };
}
