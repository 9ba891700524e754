/** Contacts: the operations of `tools/contacts.ts`, and the functions that other modules call. */
import { sql } from "kysely";
import { contacts as contract } from "../../../../tools/contacts.ts";
import { fail, failField } from "../../../../tools/errors.ts";
import type { Queries } from "../../../database/database.ts";
import { isDeepPage, ofOrganization, readPage, withTimeLimit } from "../../../database/query/index.ts";
import { getPhoneRegion, normalizePhone } from "../../account/inboxes/index.ts";
import { hasCountryCode, searchDigits } from "../../account/phone/index.ts";
import { countNewContacts } from "../../account/rules/index.ts";
import {
  type Change,
  implement,
  isListenedTo,
  type OrganizationChange,
  requireScope,
  type WriteContext,
} from "../../foundation/kernel/index.ts";
import { fillDatesJob, normalizedAfterChange } from "./conditions/index.ts";
import { emitAddedTags, emitUpdated, isUpdateListenedTo } from "./emit.ts";
import {
  type ErasedContact,
  eraseContact,
  eraseContactJob,
  erasesContact,
  recordErasureJob,
} from "./erasure/index.ts";
import { type ContactLookup, type ContactRow, findContact, findOrCreateContact } from "./find/index.ts";
import { noIdentities } from "./identities/index.ts";
import { hasTag, isNumber, readSearchWords, searchTextAfterRename } from "./search.ts";
import { readSearchPage } from "./search-page.ts";
import { selectContacts, serializeContact } from "./select.ts";
import { changeTags } from "./tags.ts";

export {
  contactSources,
  type DateAttribute,
  declareDate,
  listDateAttributes,
  normalizeContacts,
  withdrawDate,
} from "./conditions/index.ts";
export { changeConsent } from "./consent.ts";
export { type ErasedContact, eraseKnownContact, erasesContact, reporterSubject } from "./erasure/index.ts";
export {
  type ContactRow,
  createContact,
  findContact,
  findContactIds,
  findOrCreateContact,
  findOrCreateContacts,
  idOfOwner,
} from "./find/index.ts";
export {
  addressAmong,
  findAddress,
  hasAddress,
  type Identity,
  noIdentities,
  requireAddress,
  type StoredSender,
  selectAddress,
  senderFields,
  senderOf,
  storedIdentity,
  withSender,
  withStoredSender,
} from "./identities/index.ts";
export { moveIdentities } from "./move.ts";
export { serializeContact } from "./select.ts";
export { tagContacts } from "./tag-many.ts";
export { changeTags, maxTags } from "./tags.ts";
export { type ContactInput, type UpsertOutcome, upsertContacts } from "./upsert-many.ts";

export const contacts = implement(contract, {
  tables: ["contacts", "contact_identities", "contact_date_attributes"],
  operations: {
    async create_contact({ tags = [], ...input }, context) {
      requireTagScope(context, tags);
      const { contact, created } = await findOrCreateByPhone(context, input);
      if (!created) {
        throw fail("contact_exists", { existing_id: contact.id, param: "phone_number" });
      }
      return { data: serializeContact(await addTags(context, contact, tags)) };
    },

    async list_contacts({ search = "", tag, ...paging }, { world, db, organization }) {
      const words = await readSearch(db, organization, search);
      const read = (queries: Queries) => {
        if (words.length > 0) {
          return readSearchPage(queries, world.database.engine, { organization, words, tag }, paging);
        }
        const listed = selectContacts(queries, organization).$if(tag !== undefined, (query) =>
          query.where(hasTag(tag ?? "")),
        );
        return readPage(listed.selectAll().orderBy("id", "desc"), paging);
      };
      const { rows, meta } = await (words.length > 0 || isDeepPage(paging)
        ? withTimeLimit(world.database, read)
        : read(db));
      return { data: rows.map(serializeContact), meta };
    },

    async get_contact({ id }, { db, organization }) {
      return { data: serializeContact(await getContact(db, organization, id)) };
    },

    async update_contact({ id, ...changes }, context) {
      return { data: serializeContact(await changeContact(context, id, changes)) };
    },

    async upsert_contact({ tags = [], ...input }, context) {
      requireTagScope(context, tags);
      const { contact, created } = await findOrCreateByPhone(context, input);
      const { phone_number: _, ...changes } = input;
      const changed = created ? contact : await changeContact(context, contact.id, changes);
      return { data: { ...serializeContact(await addTags(context, changed, tags)), created } };
    },

    async tag_contact({ id, add = [], remove = [] }, context) {
      const contact = await getContact(context.tx, context.organization, id, "forUpdate");
      const tags = changeTags(contact.tags, { add, remove }, "add");
      return { data: serializeContact(await replaceTags(context, contact, tags)) };
    },

    async delete_contact({ id }, context) {
      const { tx, organization } = context;
      await getContact(tx, organization, id, "forUpdate");
      await eraseContact(context, { organization_id: organization, contact_id: id });
      return { data: { id, deleted: true as const } };
    },
  },
  jobs: [eraseContactJob, recordErasureJob, fillDatesJob],
  erase: erasesContact({ now: eraseProfile }),
});

type ContactScope = Pick<OrganizationChange, "tx" | "organization" | "now" | "actor">;

interface ContactChanges {
  readonly name?: string | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly opted_out?: boolean | undefined;
  readonly blocked?: boolean | undefined;
  readonly blocked_reason?: string | undefined;
  readonly tags?: string[];
}

/**
 * Sets the given fields; an empty name or reason removes it. `replaceTags` changes tags.
 * @throws Failure `contact_not_found`, `contact_not_blocked`.
 */
export async function changeContact(
  scope: ContactScope,
  id: string,
  changes: Omit<ContactChanges, "tags">,
): Promise<ContactRow> {
  const { contact, isUpdateListened } = await updateContact(scope, id, changes);
  if (isUpdateListened) {
    emitUpdated(scope, contact, fieldsOf(changes));
  }
  return contact;
}

/** The fields that the changes set; the reason of a block belongs to the block. */
function fieldsOf({ name, metadata, opted_out, blocked, blocked_reason }: ContactChanges) {
  const set = { name, metadata, opted_out, blocked: blocked ?? blocked_reason };
  const fields = ["name", "metadata", "opted_out", "blocked"] as const;
  return fields.filter((field) => set[field] !== undefined);
}

async function updateContact({ tx, organization, now }: ContactScope, id: string, changes: ContactChanges) {
  const { name, metadata, opted_out, blocked_reason, tags } = changes;
  const row = await ofOrganization(tx, organization)
    .updateTable("contacts")
    .set({
      ...(name === undefined ? {} : { name: name || null, search_text: searchTextAfterRename(name) }),
      metadata: metadata && JSON.stringify(metadata),
      ...(opted_out === undefined ? {} : { opted_out, consent_at: consentAtAfterChange(opted_out, now) }),
      ...blockColumns(changes, now),
      tags,
      ...normalizedAfterChange({ name, tags, metadata }, now),
      updated_at: now.toISOString(),
    })
    .where("id", "=", id)
    .where("erased_at", "is", null)
    .returningAll()
    .returning([
      isListenedTo(sql`contacts.organization_id`, ["contact.tag_added"]).as("isTagListened"),
      isUpdateListenedTo.as("isUpdateListened"),
    ])
    .executeTakeFirst();
  if (!row) {
    throw fail("contact_not_found");
  }
  const { isTagListened, isUpdateListened, ...contact } = row;
  if (contact.blocked_at === null && blocked_reason) {
    throw failField("blocked_reason", "contact_not_blocked");
  }
  return { contact, isTagListened, isUpdateListened };
}

/** An update that changes nothing is no choice: it leaves the time of the latest one. */
function consentAtAfterChange(opted_out: boolean, now: Date) {
  return sql<
    string | null
  >`case when opted_out = ${opted_out} then consent_at else ${now.toISOString()}::timestamptz end`;
}

/** Stores the tags of a locked contact. @throws Failure `contact_not_found`. */
export async function replaceTags(
  change: OrganizationChange,
  before: ContactRow,
  tags: string[],
): Promise<ContactRow> {
  const { contact, isTagListened, isUpdateListened } = await updateContact(change, before.id, { tags });
  if (isTagListened) {
    emitAddedTags(change, before, tags);
  }
  if (isUpdateListened && tags.join() !== before.tags.join()) {
    emitUpdated(change, contact, ["tags"]);
  }
  return contact;
}

/** @throws Failure `insufficient_scope` if there are tags, which need the scope of `tag_contact`. */
function requireTagScope({ caller }: Pick<WriteContext, "caller">, tags: readonly string[]): void {
  if (tags.length > 0) {
    requireScope(caller, contract.tag_contact.scope);
  }
}

/** @throws Failure `too_many_tags`. */
async function addTags(context: WriteContext, contact: ContactRow, tags: string[]): Promise<ContactRow> {
  if (tags.length === 0) {
    return contact;
  }
  const { tx, organization } = context;
  // Two transactions may have found the contact, and each shares its key: a stronger lock would be a
  // deadlock.
  const before = await getContact(tx, organization, contact.id, "forNoKeyUpdate");
  return replaceTags(context, before, changeTags(before.tags, { add: tags }, "tags"));
}

/** A contact that is blocked already keeps its time. */
function blockColumns({ blocked, blocked_reason }: ContactChanges, now: Date) {
  if (blocked === false) {
    return { blocked_at: null, blocked_reason: null };
  }
  return {
    ...(blocked ? { blocked_at: sql<string>`coalesce(blocked_at, ${now.toISOString()}::timestamptz)` } : {}),
    ...(blocked_reason === undefined ? {} : { blocked_reason: blocked_reason || null }),
  };
}

/** @throws Failure `contact_not_found`, also for another tenant's id. */
async function getContact(
  db: Queries,
  organization: string,
  id: string,
  lock?: "forUpdate" | "forNoKeyUpdate",
) {
  const query = selectContacts(db, organization).selectAll().where("id", "=", id);
  const contact = await (lock ? query[lock]() : query).executeTakeFirst();
  if (!contact) {
    throw fail("contact_not_found");
  }
  return contact;
}

/** A national number is found in whatever form it is written. @throws Failure `too_many_words`. */
async function readSearch(db: Queries, organization: string, search: string): Promise<readonly string[]> {
  if (!isNumber(search)) {
    return readSearchWords(search);
  }
  const region = hasCountryCode(search) ? undefined : await getPhoneRegion(db, organization);
  return [searchDigits(search, region?.defaultCountry)];
}

/** Accepts a phone number in any notation. @throws Failure `invalid_phone_number`, `budget_reached`. */
async function findOrCreateByPhone(
  context: WriteContext,
  input: Pick<ContactLookup, "name" | "metadata"> & { readonly phone_number: string },
) {
  const { tx, organization } = context;
  const { name, metadata } = input;
  const phone = await normalizePhone(tx, organization, {
    text: input.phone_number,
    field: "phone_number",
  });
  const lookup = { organization, identities: { phone }, name, metadata };
  // Counted before the contact is inserted: a message that is counted may wait for its number.
  const isCounted = context.actor.budgets !== undefined && !(await findContact(tx, lookup));
  if (isCounted) {
    await countNewContacts(context, 1);
  }
  const found = await findOrCreateContact(context, lookup);
  if (isCounted && !found.created) {
    await countNewContacts(context, -1);
  }
  return found;
}

/** The row stays, for the records that refer to it. */
async function eraseProfile(
  { tx, now }: Change,
  { organization_id, contact_id }: ErasedContact,
): Promise<void> {
  await ofOrganization(tx, organization_id)
    .updateTable("contacts")
    .set({
      ...noIdentities,
      name: null,
      search_text: "",
      tags: [],
      metadata: "{}",
      blocked_reason: null,
      country: null,
      normalized: null,
      erased_at: now.toISOString(),
    })
    .where("id", "=", contact_id)
    .execute();
  await ofOrganization(tx, organization_id)
    .deleteFrom("contact_identities")
    .where("contact_id", "=", contact_id)
    .execute();
}
