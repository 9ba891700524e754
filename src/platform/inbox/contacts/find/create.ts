/** Creates contacts with their identities. */
import { sql } from "kysely";
import { newId } from "../../../../database/id.ts";
import {
  allColumnsOf,
  columnsOf,
  ofOrganization,
  recordset,
  rowsOf,
} from "../../../../database/query/index.ts";
import { together } from "../../../../database/transaction.ts";
import type { Identities } from "../../../../ports/channel/address.ts";
import { countryOf } from "../../../account/phone/index.ts";
import { type Change, isListenedTo, recordOf } from "../../../foundation/kernel/index.ts";
import { normalizedTexts } from "../conditions/index.ts";
import { identitiesOf, noIdentities, shownIdentities } from "../identities/index.ts";
import { searchTextOf } from "../search.ts";
import type { ContactRow } from "./owners.ts";

export interface NewContact {
  readonly identities: Identities;
  readonly name?: string | null | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  /** Whether a new contact causes no event. */
  readonly isSilent?: boolean;
}

interface CreatedContact {
  readonly contact: ContactRow;
  /** The kinds of the person's identities that belong to another contact. */
  readonly conflicting: readonly string[];
}

/** Undefined if the person's first identity is taken. */
export async function createContact(
  change: Change,
  organization: string,
  person: NewContact,
): Promise<ContactRow | undefined> {
  const created = await createContacts(change, organization, [person]);
  return created.get(person)?.contact;
}

/**
 * Creates a contact for each person whose first identity is not taken. One statement, so that there is never
 * an identity without its contact.
 */
export async function createContacts(
  change: Change,
  organization: string,
  people: readonly NewContact[],
): Promise<ReadonlyMap<NewContact, CreatedContact>> {
  if (people.length === 0) {
    return new Map();
  }
  const drafts = people.map((person) => toDraft(person, newId("con", change.now)));
  const rows = await insertDrafts(change, organization, drafts);
  const created = await together(
    ...drafts.map(async ({ person, id, others }) => {
      const row = rows.get(id);
      if (!row) {
        return undefined;
      }
      const { is_listened_to, added, ...contact } = row;
      const conflicting = others.flatMap(({ kind }) => (added.includes(kind) ? [] : kind));
      const own =
        conflicting.length === 0 ? contact : await hideIdentities(change, contact, { person, conflicting });
      if (is_listened_to && !person.isSilent) {
        emitCreated(change, own);
      }
      return [person, { contact: own, conflicting }] as const;
    }),
  );
  return new Map(created.flatMap((one) => (one ? [one] : [])));
}

function toDraft(person: NewContact, id: string) {
  const { identities, name, metadata = {} } = person;
  const [first, ...others] = identitiesOf(identities);
  if (!first) {
    throw new Error("A contact needs a phone number or another identity.");
  }
  const kinds = new Set([first, ...others].map(({ kind }) => kind));
  const shown = { ...noIdentities, ...shownIdentities(identities, kinds) };
  const row = {
    ...first,
    ...shown,
    id,
    name: name || null,
    search_text: searchTextOf(name, shown.phone_number, shown.username),
    metadata,
    country: countryOf(shown.phone_number),
    normalized: normalizedTexts({ name, metadata }),
  };
  return { person, id, row, others };
}

const draftColumns = {
  ...columnsOf("contact_identities", "kind", "value"),
  ...columnsOf(
    "contacts",
    "id",
    "phone_number",
    "bsuid",
    "username",
    "name",
    "search_text",
    "metadata",
    "country",
    "normalized",
  ),
};

async function insertDrafts(
  { tx, now }: Change,
  organization: string,
  drafts: readonly ReturnType<typeof toDraft>[],
) {
  const created_at = sql`${now.toISOString()}::timestamptz`;
  const others = drafts.flatMap((draft) =>
    draft.others.map((identity) => ({ contact_id: draft.id, ...identity })),
  );
  const { rows } = await rowsOf({
    ...allColumnsOf("contacts"),
    added: "text[]",
    is_listened_to: "boolean",
  })`
    with draft as (
      select * from ${recordset(
        "draft",
        draftColumns,
        drafts.map(({ row }) => row),
      )}
    ),
    claimed as (
      insert into contact_identities (organization_id, kind, value, contact_id, created_at)
      select ${organization}, kind, value, id, ${created_at} from draft order by kind, value
      on conflict do nothing
      returning contact_id
    ),
    added as (
      insert into contact_identities (organization_id, kind, value, contact_id, created_at)
      select ${organization}, kind, value, contact_id, ${created_at}
      from ${recordset("other", otherColumns, others)} join claimed using (contact_id) order by kind, value
      on conflict do nothing
      returning contact_id, kind
    )
    insert into contacts
      (organization_id, id, phone_number, bsuid, username, name, search_text, metadata, created_at, updated_at,
        country, normalized, normalized_at)
    select ${organization}, id, phone_number, bsuid, username, name, search_text, metadata, ${created_at},
      ${created_at}, country, nullif(normalized, '{}'::jsonb), ${created_at}
    from claimed join draft on draft.id = claimed.contact_id
    returning *, array(select kind from added where added.contact_id = contacts.id) as added,
      ${isListenedTo(sql`contacts.organization_id`, ["contact.created"])} as is_listened_to
  `.execute(tx);
  return new Map(rows.map((row) => [row.id, row]));
}

const otherColumns = columnsOf("contact_identities", "contact_id", "kind", "value");

function emitCreated(
  { tx, actor }: Change,
  { organization_id, id: contact_id, phone_number, name }: ContactRow,
): void {
  const data = { contact_id, phone_number, name, actor: recordOf(actor) };
  tx.emit({ type: "contact.created", organization_id, order: contact_id, data });
}

/** Removes what a new contact shows of the person's identities that belong to another contact. */
async function hideIdentities(
  { tx }: Change,
  { organization_id, id, name }: ContactRow,
  { person, conflicting }: { readonly person: NewContact; readonly conflicting: readonly string[] },
): Promise<ContactRow> {
  const own = identitiesOf(person.identities).filter(({ kind }) => !conflicting.includes(kind));
  const shown = {
    ...noIdentities,
    ...shownIdentities(person.identities, new Set(own.map(({ kind }) => kind))),
  };
  return ofOrganization(tx, organization_id)
    .updateTable("contacts")
    .set({
      ...shown,
      country: countryOf(shown.phone_number),
      search_text: searchTextOf(name, shown.phone_number, shown.username),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
