/** Finds whom messages go to: the contact, the inbox that sends a message, and their conversation. */
import { type Selectable, sql } from "kysely";
import type { BoundBudgets } from "../../../../../tools/budgets.ts";
import { fail, failField } from "../../../../../tools/errors.ts";
import type { BoundRules } from "../../../../../tools/rules.ts";
import type { Queries } from "../../../../database/database.ts";
import { ofOrganization, recordset } from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import { together } from "../../../../database/transaction.ts";
import type { ChannelAddress } from "../../../../ports/channel/address.ts";
import { channelsWithKind, isOpenKind, requireKind } from "../../../account/inboxes/index.ts";
import { readBoundTo, selectBoundTo } from "../../../account/rules/index.ts";
import type { Change, World } from "../../../foundation/kernel/index.ts";
import { createContact, type Identity, idOfOwner, storedIdentity } from "../../contacts/index.ts";
import { findOrCreateConversation, type OutboundConversation } from "../../conversations/index.ts";

type Inbox = Pick<Selectable<Tables["inboxes"]>, "id" | "channel" | "phone_number" | "settings" | "health">;
type Contact = Pick<Selectable<Tables["contacts"]>, "id" | "name" | "opted_out" | "blocked_at">;

/** The contact that a message goes to, as the answer to its sender shows it. */
interface Addressee extends Pick<Contact, "id" | "name"> {
  readonly created: boolean;
}

export interface Address {
  readonly organization: string;
  readonly to: ChannelAddress;
  /**
   * Default: among the inboxes whose channel can write to the address, the inbox of the contact's latest
   * conversation, or else the first inbox.
   */
  readonly inbox_id: string | undefined;
  /** The id of the flow or the bot that sends: the rules of who saved it bind it. */
  readonly acting?: string | undefined;
}

/** What exists of a recipient. */
export interface FoundRecipient {
  /** Null if the contact is new. */
  readonly contact: Contact | null;
  readonly inbox: Inbox | null;
  readonly conversation: OutboundConversation | null;
  /** Whether another transaction has locked the conversation; then `conversation` is null. */
  readonly isLocked: boolean;
  /** The rules that bind the flow or the bot that sends, and the budgets that count its messages. */
  readonly rules: readonly BoundRules[];
  readonly budgets: readonly BoundBudgets[];
}

/** A recipient that a message may be sent to. The conversation is null if it does not exist yet. */
export interface Recipient extends Pick<FoundRecipient, "conversation"> {
  readonly contact: Pick<Contact, "id" | "name" | "opted_out"> | null;
  readonly inbox: Inbox;
}

const addressColumns = {
  position: "integer",
  organization: "text",
  kind: "text",
  value: "text",
  inbox_id: "text",
  /** The channels that can write to the address; null for all. */
  channels: "text[]",
  acting: "text",
} as const;

const boundRules = selectBoundTo(sql<string>`address.organization`, sql<string>`address.acting`);

/**
 * What exists of recipients, read by one statement. The contacts and the conversations are locked until the
 * commit, in one order, so that two such statements do not deadlock. `waitsForLocks` waits for conversations
 * that other transactions have locked.
 * @returns the function that returns what exists of one of these addresses.
 */
export async function findRecipients(
  { tx, world }: Pick<Change, "tx" | "world">,
  addresses: readonly Address[],
  { waitsForLocks }: { readonly waitsForLocks: boolean },
): Promise<(address: Address) => FoundRecipient> {
  const rows = addresses
    .map(({ organization, to, inbox_id, acting }, position) => ({
      position,
      organization,
      ...storedIdentity(to),
      inbox_id: inbox_id ?? null,
      channels: channelsWithKind(world, to) ?? null,
      acting: acting ?? null,
    }))
    .sort((one, other) => (lockKey(one) < lockKey(other) ? -1 : 1));
  const found = await sql<FoundRow>`
    select address.position, contact.id as contact_id, contact.name, contact.opted_out, contact.blocked_at,
      inbox.id as inbox_id, inbox.channel, inbox.phone_number, inbox.settings, inbox.health,
      conversation.id as conversation_id,
      conversation.status, conversation.snoozed_until, conversation.opens_on_answer, conversation.last_user_message_at,
      conversation.may_be_automated, latest.id is not null and conversation.id is null as is_locked,
      case when address.acting is not null then ${boundRules} end as rules
    from ${recordset("address", addressColumns, rows)}
    left join lateral (
      select id, name, opted_out, blocked_at from contacts
      where organization_id = address.organization and erased_at is null
        and id = (
          select contact_id from contact_identities
          where organization_id = address.organization and kind = address.kind and value = address.value
        )
      for key share
    ) as contact on true
    left join lateral (
      select id, inbox_id from conversations
      where organization_id = address.organization and contact_id = contact.id
        and (address.inbox_id is null or inbox_id = address.inbox_id)
        and (address.channels is null or inbox_id in (
          select id from inboxes
          where organization_id = address.organization and channel = any(address.channels)
        ))
      -- An order by the column itself would use an index of all conversations of the organization.
      order by coalesce(last_message_at, '-infinity') desc, inbox_id
      limit 1
    ) as latest on true
    left join lateral (
      select * from conversations
      where organization_id = address.organization and id = latest.id
      for no key update ${waitsForLocks ? sql`` : sql`skip locked`}
    ) as conversation on true
    left join inboxes as inbox on inbox.organization_id = address.organization and inbox.id = coalesce(
      latest.inbox_id,
      address.inbox_id,
      (
        select min(id) from inboxes
        where organization_id = address.organization
          and (address.channels is null or channel = any(address.channels))
      )
    )
  `.execute(tx);
  const byAddress = new Map(found.rows.map((row) => [addresses[row.position], row]));
  return (address) => {
    const row = byAddress.get(address);
    if (!row) {
      throw new Error("The recipient was not read.");
    }
    return toFoundRecipient(address.organization, row);
  };
}

/** All columns of a contact, a conversation or an inbox that was not found are null. */
interface FoundRow
  extends Omit<Contact, "id">,
    Omit<Inbox, "id">,
    Omit<OutboundConversation, "organization_id" | "id"> {
  readonly position: number;
  readonly contact_id: string | null;
  readonly inbox_id: string | null;
  readonly conversation_id: string | null;
  readonly is_locked: boolean;
  readonly rules: unknown;
}

function toFoundRecipient(organization_id: string, row: FoundRow): FoundRecipient {
  const { contact_id, name, opted_out, blocked_at, inbox_id, conversation_id, is_locked, rules, ...others } =
    row;
  const { position: _, channel, phone_number, settings, health, ...state } = others;
  return {
    contact: contact_id === null ? null : { id: contact_id, name, opted_out, blocked_at },
    inbox: inbox_id === null ? null : { id: inbox_id, channel, phone_number, settings, health },
    conversation: conversation_id === null ? null : { organization_id, id: conversation_id, ...state },
    isLocked: is_locked,
    ...readBoundTo(rules),
  };
}

/**
 * Any phone number may be a recipient, but an id that the channel assigns must be a contact's.
 * @throws Failure `contact_blocked`, `contact_not_found`, `no_inbox`, `inbox_not_found`,
 * `address_not_supported`.
 */
export function requireRecipient(
  world: World,
  { contact, inbox, conversation }: FoundRecipient,
  { to, inbox_id }: Address,
): Recipient {
  if (contact && contact.blocked_at !== null) {
    throw failField("to", "contact_blocked", { contact_id: contact.id });
  }
  if (!contact && !isOpenKind(world, to)) {
    throw failField("to", "contact_not_found");
  }
  if (!inbox) {
    throw inbox_id === undefined ? fail("no_inbox") : fail("inbox_not_found", { param: "inbox_id" });
  }
  requireKind(world, inbox.channel, to);
  return { contact, inbox, conversation };
}

/** The conversation of a recipient, and whom the message goes to. What does not exist yet is created. */
export async function createMissing(
  change: Change,
  { contact, inbox, conversation }: Recipient,
  { organization, to }: Pick<Address, "organization" | "to">,
): Promise<{ readonly conversation: OutboundConversation; readonly addressee: Addressee }> {
  const created = { organization, inbox_id: inbox.id };
  if (contact) {
    const { id, name } = contact;
    const known = conversation ?? (await findOrCreateConversation(change, { ...created, contact_id: id }));
    return { conversation: known, addressee: { id, name, created: false } };
  }
  const identity = storedIdentity(to);
  const identities = { [to.kind]: to.value };
  // Another transaction may create the contact at the same time: the identity tells whose conversation it is.
  const [newContact, added] = await together(
    createContact(change, organization, { identities }),
    findOrCreateConversation(change, { ...created, contact_id: idOfOwner(organization, identity) }),
  );
  const { id, name } = newContact ?? (await readContact(change.tx, added));
  return { conversation: added, addressee: { id, name, created: newContact !== undefined } };
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

function lockKey({ organization, kind, value }: Identity & Pick<Address, "organization">): string {
  return `${organization} ${kind} ${value}`;
}
