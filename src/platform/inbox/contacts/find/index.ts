/**
 * Finds contacts by their identities (phone number, channel ids, username), or creates them, and stores new
 * identities.
 *
 * An identity belongs to exactly one contact. Its unique row decides which of two concurrent creations wins.
 * An identity that belongs to another contact is not moved: contacts are never merged automatically.
 */
import { sql } from "kysely";
import { ofOrganization } from "../../../../database/query/index.ts";
import { together } from "../../../../database/transaction.ts";
import { countryOf } from "../../../account/phone/index.ts";
import type { Change, Transaction } from "../../../foundation/kernel/index.ts";
import { normalizedAtAfterChange } from "../conditions/index.ts";
import { emitUpdated, isUpdateListenedTo } from "../emit.ts";
import { type Identity, identitiesOf, shownIdentities } from "../identities/index.ts";
import { searchTextOf } from "../search.ts";
import { createContacts, type NewContact } from "./create.ts";
import { type ContactRow, findOwners, type Owner } from "./owners.ts";

export { findContactIds } from "./by-number.ts";
export { createContact } from "./create.ts";
export { type ContactRow, idOfOwner } from "./owners.ts";

export interface ContactLookup extends NewContact {
  readonly organization: string;
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
export async function findOrCreateContact(
  change: Change,
  { organization, ...person }: ContactLookup,
): Promise<FoundContact> {
  const [found] = await findOrCreateContacts(change, organization, [person]);
  if (!found) {
    throw new Error("A contact was neither found nor created.");
  }
  return found;
}

/** The same for several persons, of whom no two have the same identity. Returns them in their order. */
export async function findOrCreateContacts(
  change: Change,
  organization: string,
  people: readonly NewContact[],
): Promise<readonly FoundContact[]> {
  const found = new Map<NewContact, FoundContact>();
  for (;;) {
    const missing = people.filter((person) => !found.has(person));
    if (missing.length === 0) {
      return people.flatMap((person) => found.get(person) ?? []);
    }
    // A person who was created by another transaction since the last round is found now.
    for (const [person, known] of await findKnown(change, organization, missing)) {
      found.set(person, known);
    }
    const unknown = missing.filter((person) => !found.has(person));
    for (const [person, created] of await createContacts(change, organization, unknown)) {
      found.set(person, { created: true, ...created });
    }
  }
}

/** The persons who are contacts, with the identities that are new. */
async function findKnown(change: Change, organization: string, people: readonly NewContact[]) {
  const wanted = people.map(({ identities }) => identitiesOf(identities));
  const ownersOf = await findOwners(change.tx, organization, wanted);
  const known = await together(
    ...people.map(async (person, index) => {
      const owners = ownersOf(index);
      const identities = wanted[index] ?? [];
      const contact = chooseOwner(owners, identities);
      if (!contact) {
        return undefined;
      }
      const kinds = new Set(owners.map(({ kind }) => kind));
      const added = identities.filter(({ kind }) => !kinds.has(kind));
      const conflicting = owners.filter((owner) => owner.contact.id !== contact.id).map(({ kind }) => kind);
      const found = { contact, created: false, conflicting };
      const { identities: given } = person;
      return [person, await addIdentities(change, found, { added, identities: given })] as const;
    }),
  );
  return known.flatMap((one) => (one ? [one] : []));
}

/** The contact that `findOrCreateContact` would find. */
export async function findContact(
  tx: Transaction,
  { organization, ...person }: Pick<ContactLookup, "organization" | "identities">,
): Promise<ContactRow | undefined> {
  const identities = identitiesOf(person.identities);
  const ownersOf = await findOwners(tx, organization, [identities]);
  return chooseOwner(ownersOf(0), identities);
}

/** The owner of the first identity that has one, but not the former owner of a username. */
function chooseOwner(owners: readonly Owner[], identities: readonly Identity[]): ContactRow | undefined {
  const [first] = identities.flatMap(
    ({ kind }) => owners.find((owner) => owner.kind === kind && !owner.isFormer) ?? [],
  );
  return first?.contact;
}

interface AddedIdentities {
  readonly added: readonly Identity[];
  readonly identities: NewContact["identities"];
}

/** Adds identities that had no owner when they were read. */
async function addIdentities(
  { tx, now, actor }: Change,
  result: FoundContact,
  { added, identities }: AddedIdentities,
): Promise<FoundContact> {
  if (added.length === 0) {
    return result;
  }
  const { organization_id, id } = result.contact;
  const updated_at = now.toISOString();
  const row = { organization_id, contact_id: id, created_at: updated_at };
  const inserted = await tx
    .insertInto("contact_identities")
    .values(added.map((identity) => ({ ...row, ...identity })))
    .onConflict((conflict) => conflict.doNothing())
    .returning("kind")
    .execute();
  const kinds = new Set(inserted.map(({ kind }) => kind));
  const { phone_number, ...columns } = shownIdentities(identities, kinds);
  // The contact keeps the number that was stored first.
  const number = result.contact.phone_number === null ? phone_number : undefined;
  const { is_listened_to, ...contact } = await ofOrganization(tx, organization_id)
    .updateTable("contacts")
    .set({
      ...columns,
      phone_number: number,
      country: number && countryOf(number),
      normalized_at: normalizedAtAfterChange(now),
      // Appended, so that a concurrent change of the name is not overwritten.
      search_text: sql<string>`search_text || ' ' || ${searchTextOf(number, columns.username)}`,
      updated_at,
    })
    .where("id", "=", id)
    .returningAll()
    .returning(isUpdateListenedTo.as("is_listened_to"))
    .executeTakeFirstOrThrow();
  if (is_listened_to && number) {
    emitUpdated({ tx, actor }, contact, ["phone_number"]);
  }
  const rejected = added.filter(({ kind }) => !kinds.has(kind));
  const conflicts = await findConflicts(tx, contact, rejected);
  return { ...result, contact, conflicting: [...result.conflicting, ...conflicts] };
}

/** Which of these belong to another contact; a concurrent transaction may have added some to this contact. */
async function findConflicts(tx: Transaction, contact: ContactRow, identities: readonly Identity[]) {
  const ownersOf = await findOwners(tx, contact.organization_id, [identities]);
  return ownersOf(0).flatMap((owner) => (owner.contact.id === contact.id ? [] : owner.kind));
}
