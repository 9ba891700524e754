/** Finds the contacts that have the identities of persons. */
import { type Selectable, sql } from "kysely";
import {
  allColumnsOf,
  columnsOf,
  matchesKey,
  ofOrganization,
  recordset,
  refersTo,
  rowsOf,
} from "../../../../database/query/index.ts";
import type { Tables } from "../../../../database/schema/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import { type Identity, isChannelId, usernameKind } from "../identities/index.ts";

export type ContactRow = Selectable<Tables["contacts"]>;

/** The owner of one of a person's identities. */
export interface Owner {
  readonly contact: ContactRow;
  readonly kind: string;
  /**
   * Whether the contact is only the former owner of the person's username: it has ids of the same kinds as
   * the person, but none of the person's ids.
   */
  readonly isFormer: boolean;
}

/** The id of the contact that has this identity, as part of a statement. */
export function idOfOwner(organization: string, { kind, value }: Identity) {
  return sql<string>`(
    select contact_id from contact_identities
    where organization_id = ${organization} and kind = ${kind} and value = ${value}
  )`;
}

type Found = Omit<Owner, "isFormer">;

/** The owners of each person's identities, by the person's position. The contacts are locked. */
export async function findOwners(
  tx: Transaction,
  organization: string,
  people: readonly (readonly Identity[])[],
): Promise<(person: number) => readonly Owner[]> {
  const wanted = people.flatMap((identities, person) =>
    identities.map((identity) => ({ person, ...identity })),
  );
  const found = people.map((): Found[] => []);
  if (wanted.length > 0) {
    const kinds = wanted.map(({ kind }) => kind);
    const values = wanted.map(({ value }) => value);
    const { rows } = await rowsOf({ ...allColumnsOf("contacts"), person: "integer", kind: "text" })`
      select contacts.*, wanted.person, wanted.kind
      from ${recordset("wanted", wantedColumns, wanted)}
      join contact_identities on contact_identities.organization_id = ${organization}
        and ${matchesKey("contact_identities.kind", "wanted.kind", kinds)}
        and ${matchesKey("contact_identities.value", "wanted.value", values)}
      join contacts on ${refersTo("contact_identities.contact_id", "contacts")}
      where contacts.erased_at is null
      for key share of contacts
    `.execute(tx);
    for (const { person, kind, ...contact } of rows) {
      found[person]?.push({ contact, kind });
    }
  }
  const former = await findFormerOwners(tx, organization, { people, found });
  return (person) => (found[person] ?? []).map((one) => ({ ...one, isFormer: former.has(one) }));
}

const wantedColumns = { person: "integer", ...columnsOf("contact_identities", "kind", "value") } as const;

/**
 * A username can pass to another person, whom the channel's ids tell apart. An owner without any id of the
 * person's kinds may be the same person.
 */
async function findFormerOwners(
  tx: Transaction,
  organization: string,
  {
    people,
    found,
  }: { readonly people: readonly (readonly Identity[])[]; readonly found: readonly (readonly Found[])[] },
): Promise<ReadonlySet<Found>> {
  // An owner of one of the person's ids is the person.
  const doubtful = found.flatMap((owners, person) => {
    const kinds = (people[person] ?? []).flatMap(({ kind }) => (isChannelId(kind) ? [kind] : []));
    const isById = ({ contact }: Found) =>
      owners.some(({ kind, contact: { id } }) => isChannelId(kind) && id === contact.id);
    return owners
      .filter((owner) => owner.kind === usernameKind && kinds.length > 0 && !isById(owner))
      .map((owner) => ({ owner, kinds }));
  });
  if (doubtful.length === 0) {
    return new Set();
  }
  const rows = await ofOrganization(tx, organization)
    .selectFrom("contact_identities")
    .select(["contact_id", "kind"])
    .where(({ eb, fn, val }) =>
      eb("contact_id", "=", fn.any(val(doubtful.map(({ owner }) => owner.contact.id)))),
    )
    .execute();
  const isOther = ({ owner, kinds }: (typeof doubtful)[number]) =>
    rows.some(({ contact_id, kind }) => contact_id === owner.contact.id && kinds.includes(kind));
  return new Set(doubtful.filter(isOther).map(({ owner }) => owner));
}
