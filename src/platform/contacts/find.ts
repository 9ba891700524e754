/**
 * Finds a contact by what a channel or a caller calls it, or makes it, and learns its further names.
 *
 * An identity belongs to one contact: its row is what two who create at once compete for. One that belongs
 * to another contact stays there; contacts are never merged unasked.
 */
import { type Selectable, sql } from "kysely";
import type { Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { refersTo } from "../../database/query/index.ts";
import type { Tables } from "../../database/schema/index.ts";
import type { Identities } from "../../ports/channel.ts";
import { phoneKey } from "./phone.ts";
import { searchTextOf } from "./search.ts";

export type ContactRow = Selectable<Tables["contacts"]>;
type Kind = Tables["contact_identities"]["kind"];

export interface Wanted {
  readonly organization: string;
  /** In E.164 form; null for somebody who hides it. */
  readonly phone_number: string | null;
  readonly identities?: Identities | undefined;
  readonly name?: string | null | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly now: Date;
}

interface Identity {
  readonly kind: Kind;
  readonly value: string;
}

interface Found {
  readonly contact: ContactRow;
  readonly created: boolean;
  /** What the channel said that belongs to another contact, and stayed there. */
  readonly foreign: readonly Kind[];
}

/**
 * The contact that has any of these identities, the surest first; made if there is none. It is held until the
 * commit: an erasure waits for what is written under it, and then takes that too.
 */
export async function findOrCreateContact(tx: Transaction, wanted: Wanted): Promise<Found> {
  const [first, ...others] = identitiesOf(wanted);
  if (!first) {
    throw new Error("A contact needs a number or another identity.");
  }
  for (;;) {
    const owners = await findOwners(tx, wanted.organization, [first, ...others]);
    const contact = chooseOwner(owners, [first, ...others], wanted);
    if (contact) {
      const known = new Set(owners.map(({ kind }) => kind));
      const added = [first, ...others].filter(({ kind }) => !known.has(kind));
      const foreign = owners.filter(({ id }) => id !== contact.id).map(({ kind }) => kind);
      return learn(tx, { contact, created: false, foreign }, added, wanted);
    }
    const created = await createContact(tx, wanted, first);
    if (created) {
      return learn(tx, { contact: created, created: true, foreign: [] }, others, wanted);
    }
    // Somebody made it between the two statements, or it was erased: look again.
  }
}

/** The contact whom the channel calls by this business-scoped id; held until the commit. */
export async function findByBsuid(
  tx: Transaction,
  organization: string,
  bsuid: string,
): Promise<ContactRow | undefined> {
  const [owner] = await findOwners(tx, organization, [{ kind: "bsuid", value: bsuid }]);
  return owner;
}

/**
 * The surest first, and always in this order, so that two who learn at once don't wait for each other. The
 * channel's own id is on every message of a person and never anybody else's; a username can be given up and
 * taken by another.
 */
function identitiesOf({ phone_number, identities = {} }: Wanted): Identity[] {
  const { bsuid, wa_id, username } = identities;
  const named: readonly (readonly [Kind, string | null | undefined])[] = [
    ["bsuid", bsuid],
    ["wa_id", wa_id],
    ["phone", phone_number && phoneKey(phone_number)],
    ["username", username?.toLowerCase()],
  ];
  return named.flatMap(([kind, value]) => (value ? [{ kind, value }] : []));
}

type Owner = ContactRow & { readonly kind: Kind };

async function findOwners(tx: Transaction, organization: string, identities: readonly Identity[]) {
  return tx
    .selectFrom("contact_identities")
    .innerJoin("contacts", (join) => join.on(refersTo("contact_identities.contact_id", "contacts")))
    .selectAll("contacts")
    .select("contact_identities.kind")
    .where("contact_identities.organization_id", "=", organization)
    .where((rows) => rows.or(identities.map(({ kind, value }) => rows.and({ kind, value }))))
    .where("contacts.erased_at", "is", null)
    .forKeyShare("contacts")
    .execute();
}

function chooseOwner(
  owners: readonly Owner[],
  identities: readonly Identity[],
  { identities: told }: Wanted,
) {
  const isSomebodyElse = (owner: Owner) =>
    owner.kind === "username" && Boolean(told?.bsuid) && owner.bsuid !== null && owner.bsuid !== told?.bsuid;
  for (const { kind } of identities) {
    const owner = owners.find((one) => one.kind === kind && !isSomebodyElse(one));
    if (owner) {
      const { kind: _, ...contact } = owner;
      return contact;
    }
  }
  return undefined;
}

/** In one statement, so that there is never an identity without its contact; undefined if the identity is taken. */
async function createContact(tx: Transaction, wanted: Wanted, { kind, value }: Identity) {
  const { organization, name, metadata = {}, now } = wanted;
  const { phone_number = null, bsuid = null, username = null } = shownBy(new Set([kind]), wanted);
  const at = now.toISOString();
  const { rows } = await sql<ContactRow>`
    with claimed as (
      insert into contact_identities (organization_id, kind, value, contact_id, created_at)
      values (${organization}, ${kind}, ${value}, ${newId("con", now)}, ${at})
      on conflict do nothing
      returning contact_id
    )
    insert into contacts
      (organization_id, id, phone_number, bsuid, username, name, search_text, metadata, created_at, updated_at)
    select ${organization}, contact_id, ${phone_number}, ${bsuid}, ${username}, ${name || null},
      ${searchTextOf(name, phone_number, username)},
      ${JSON.stringify(metadata)}::jsonb, ${at}::timestamptz, ${at}::timestamptz
    from claimed
    returning *
  `.execute(tx);
  return rows[0];
}

/** The columns of a contact that show these kinds of identities. */
function shownBy(kinds: ReadonlySet<Kind>, { phone_number, identities = {} }: Wanted) {
  return {
    ...(kinds.has("phone") && phone_number ? { phone_number } : {}),
    ...(kinds.has("bsuid") && identities.bsuid ? { bsuid: identities.bsuid } : {}),
    ...(kinds.has("username") && identities.username ? { username: identities.username } : {}),
  };
}

/** Adds identities that nobody had a moment ago. */
async function learn(
  tx: Transaction,
  found: Found,
  added: readonly Identity[],
  wanted: Wanted,
): Promise<Found> {
  if (added.length === 0) {
    return found;
  }
  const { organization_id, id } = found.contact;
  const updated_at = wanted.now.toISOString();
  const row = { organization_id, contact_id: id, created_at: updated_at };
  const inserted = await tx
    .insertInto("contact_identities")
    .values(added.map((identity) => ({ ...row, ...identity })))
    .onConflict((conflict) => conflict.doNothing())
    .returning("kind")
    .execute();
  const kinds = new Set(inserted.map(({ kind }) => kind));
  const { phone_number, ...shown } = shownBy(kinds, wanted);
  // The number that is shown is the one that was stored first.
  const number = found.contact.phone_number === null ? phone_number : undefined;
  const contact = await tx
    .updateTable("contacts")
    .set({
      ...shown,
      phone_number: number,
      // Appended: a name that is changed at this moment is not undone.
      search_text: sql<string>`search_text || ' ' || ${searchTextOf(number, shown.username)}`,
      updated_at,
    })
    .where("organization_id", "=", organization_id)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const missed = added.filter(({ kind }) => !kinds.has(kind));
  return { ...found, contact, foreign: [...found.foreign, ...(await othersOf(tx, contact, missed))] };
}

/** Which of these another contact has; some may have become this one's own at this moment. */
async function othersOf(tx: Transaction, contact: ContactRow, identities: readonly Identity[]) {
  if (identities.length === 0) {
    return [];
  }
  const owners = await findOwners(tx, contact.organization_id, identities);
  return owners.filter(({ id }) => id !== contact.id).map(({ kind }) => kind);
}
