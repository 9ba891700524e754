/**
 * Finds a contact by its identities (phone number, channel ids, username), or creates it,
 * and stores new ones.
 *
 * An identity belongs to exactly one contact. Its unique row decides which of two concurrent creations wins.
 * An identity that belongs to another contact is not moved: contacts are never merged automatically.
 */
import { type Selectable, sql } from "kysely";
import { newId } from "../../../database/id.ts";
import { allColumnsOf, ofOrganization, refersTo, rowsOf } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { Identities } from "../../../ports/channel/address.ts";
import { countryOf } from "../../account/phone/index.ts";
import { type Change, isListenedTo, recordOf, type Transaction } from "../../foundation/kernel/index.ts";
import { normalizedAtAfterChange, normalizedColumn } from "./conditions/index.ts";
import {
  type Identity,
  identitiesOf,
  isFormerOwner,
  noIdentities,
  shownIdentities,
} from "./identities/index.ts";
import { searchTextOf } from "./search.ts";

export type ContactRow = Selectable<Tables["contacts"]>;

export interface ContactLookup {
  readonly organization: string;
  readonly identities: Identities;
  readonly name?: string | null | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly now: Date;
  /** Whether a new contact causes no event. */
  readonly isSilent?: boolean;
}

interface FoundContact {
  readonly contact: ContactRow;
  readonly created: boolean;
  /** The given identities that belong to another contact. */
  readonly conflicting: readonly string[];
}

/**
 * The contact that has one of these identities, the most reliable first; created if there is none. Locked
 * until the commit: an erasure waits for what this transaction writes for the contact, and erases that too.
 */
export async function findOrCreateContact(change: Change, lookup: ContactLookup): Promise<FoundContact> {
  const { tx } = change;
  const identities = identitiesOf(lookup.identities);
  const [first, ...others] = identities;
  if (!first) {
    throw new Error("A contact needs a phone number or another identity.");
  }
  for (;;) {
    const owners = await findOwners(tx, lookup.organization, identities);
    const contact = chooseOwner(owners, identities);
    if (contact) {
      const known = new Set(owners.map(({ kind }) => kind));
      const added = identities.filter(({ kind }) => !known.has(kind));
      const conflicting = owners.filter(({ id }) => id !== contact.id).map(({ kind }) => kind);
      return addIdentities(tx, { contact, created: false, conflicting }, added, lookup);
    }
    const created = await createContact(change, lookup, first);
    if (created) {
      return addIdentities(tx, { contact: created, created: true, conflicting: [] }, others, lookup);
    }
    // Another transaction created it between the two statements, or it was erased: read again.
  }
}

/** The contact that `findOrCreateContact` would find. */
export async function findContact(tx: Transaction, lookup: ContactLookup): Promise<ContactRow | undefined> {
  const identities = identitiesOf(lookup.identities);
  const owners = identities.length > 0 ? await findOwners(tx, lookup.organization, identities) : [];
  return chooseOwner(owners, identities);
}

/** The id of the contact that has this identity, as part of a statement. */
export function idOfOwner(organization: string, { kind, value }: Identity) {
  return sql<string>`(
    select contact_id from contact_identities
    where organization_id = ${organization} and kind = ${kind} and value = ${value}
  )`;
}

type Owner = ContactRow & { readonly kind: string; readonly is_former_owner: boolean };

async function findOwners(
  tx: Transaction,
  organization: string,
  identities: readonly Identity[],
): Promise<readonly Owner[]> {
  return ofOrganization(tx, organization)
    .selectFrom("contact_identities")
    .innerJoin("contacts", (join) => join.on(refersTo("contact_identities.contact_id", "contacts")))
    .selectAll("contacts")
    .select(["contact_identities.kind", isFormerOwner(identities).as("is_former_owner")])
    .where((rows) => rows.or(identities.map(({ kind, value }) => rows.and({ kind, value }))))
    .where("contacts.erased_at", "is", null)
    .forKeyShare("contacts")
    .execute();
}

/** The owner of the first identity that has one, but not the former owner of a username. */
function chooseOwner(owners: readonly Owner[], identities: readonly Identity[]): ContactRow | undefined {
  for (const { kind } of identities) {
    const owner = owners.find((candidate) => candidate.kind === kind && !candidate.is_former_owner);
    if (owner) {
      const { kind: _, is_former_owner, ...contact } = owner;
      return contact;
    }
  }
  return undefined;
}

/**
 * Undefined if the identity is taken. One statement, so that there is never an identity without its contact.
 */
export async function createContact(
  { tx, actor }: Change,
  lookup: ContactLookup,
  { kind, value }: Identity,
): Promise<ContactRow | undefined> {
  const { organization, identities, name, metadata = {}, now } = lookup;
  const { phone_number, bsuid, username } = {
    ...noIdentities,
    ...shownIdentities(identities, new Set([kind])),
  };
  const created_at = now.toISOString();
  const { rows } = await rowsOf({ ...allColumnsOf("contacts"), is_listened_to: "boolean" })`
    with claimed as (
      insert into contact_identities (organization_id, kind, value, contact_id, created_at)
      values (${organization}, ${kind}, ${value}, ${newId("con", now)}, ${created_at})
      on conflict do nothing
      returning contact_id
    )
    insert into contacts
      (organization_id, id, phone_number, bsuid, username, name, search_text, metadata, created_at, updated_at,
        country, normalized, normalized_at)
    select ${organization}, contact_id, ${phone_number}, ${bsuid}, ${username}, ${name || null},
      ${searchTextOf(name, phone_number, username)},
      ${JSON.stringify(metadata)}::jsonb, ${created_at}::timestamptz, ${created_at}::timestamptz,
      ${countryOf(phone_number)}, ${normalizedColumn({ name, metadata })}::jsonb, ${created_at}::timestamptz
    from claimed
    returning *, ${isListenedTo(sql`contacts.organization_id`, ["contact.created"])} as is_listened_to
  `.execute(tx);
  if (!rows[0]) {
    return undefined;
  }
  const { is_listened_to, ...contact } = rows[0];
  if (is_listened_to && !lookup.isSilent) {
    const { organization_id, id: contact_id } = contact;
    const data = { contact_id, phone_number, name: contact.name, actor: recordOf(actor) };
    tx.emit({ type: "contact.created", organization_id, order: contact_id, data });
  }
  return contact;
}

/** Adds identities that had no owner when they were read. */
async function addIdentities(
  tx: Transaction,
  result: FoundContact,
  added: readonly Identity[],
  lookup: ContactLookup,
): Promise<FoundContact> {
  if (added.length === 0) {
    return result;
  }
  const { organization_id, id } = result.contact;
  const updated_at = lookup.now.toISOString();
  const row = { organization_id, contact_id: id, created_at: updated_at };
  const inserted = await tx
    .insertInto("contact_identities")
    .values(added.map((identity) => ({ ...row, ...identity })))
    .onConflict((conflict) => conflict.doNothing())
    .returning("kind")
    .execute();
  const kinds = new Set(inserted.map(({ kind }) => kind));
  const { phone_number, ...columns } = shownIdentities(lookup.identities, kinds);
  // The contact keeps the number that was stored first.
  const number = result.contact.phone_number === null ? phone_number : undefined;
  const contact = await ofOrganization(tx, organization_id)
    .updateTable("contacts")
    .set({
      ...columns,
      phone_number: number,
      country: number && countryOf(number),
      normalized_at: normalizedAtAfterChange(lookup.now),
      // Appended, so that a concurrent change of the name is not overwritten.
      search_text: sql<string>`search_text || ' ' || ${searchTextOf(number, columns.username)}`,
      updated_at,
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const rejected = added.filter(({ kind }) => !kinds.has(kind));
  return {
    ...result,
    contact,
    conflicting: [...result.conflicting, ...(await findConflicts(tx, contact, rejected))],
  };
}

/** Which of these belong to another contact; a concurrent transaction may have added some to this contact. */
async function findConflicts(tx: Transaction, contact: ContactRow, identities: readonly Identity[]) {
  if (identities.length === 0) {
    return [];
  }
  const owners = await findOwners(tx, contact.organization_id, identities);
  return owners.filter(({ id }) => id !== contact.id).map(({ kind }) => kind);
}
