/** Contacts: find, create, change and erase the people an organization talks to. */
import { contacts as contract } from "../../../tools/contacts.ts";
import { fail } from "../../../tools/errors.ts";
import type { Queries, Transaction } from "../../database/database.ts";
import { matchesCountedUpTo, readPage } from "../../database/query/index.ts";
import { closeThreadsOf, implement, type WriteContext } from "../kernel/index.ts";
import { erase } from "./erase.ts";
import { findOrCreateContact, type Wanted } from "./find.ts";
import { maxTags } from "./limits.ts";
import { normalizePhone } from "./phone.ts";
import { hasTag, matches, renamed } from "./search.ts";

export { findByBsuid, findOrCreateContact } from "./find.ts";
export { type Person, type Upserted, upsertContacts } from "./upsert-many.ts";

export const contacts = implement(contract, {
  operations: {
    async create_contact(input, context) {
      const { contact, created } = await findOrCreateByPhone(input, context);
      if (!created) {
        throw fail("contact_exists", { existing_id: contact.id, param: "phone_number" });
      }
      return { data: contact };
    },

    async list_contacts({ search, tag, ...paging }, { db, organization }) {
      const found = living(db, organization)
        .where((rows) => matches(rows, search ?? ""))
        .$if(tag !== undefined, (query) => query.where(hasTag(tag ?? "")));
      const mostCounted = search === undefined ? undefined : matchesCountedUpTo;
      const { rows, meta } = await readPage(found.selectAll().orderBy("id", "desc"), paging, mostCounted);
      return { data: rows, meta };
    },

    async get_contact({ id }, { db, organization }) {
      return { data: await getContact(db, organization, id) };
    },

    async update_contact({ id, ...changes }, { tx, organization, now }) {
      return { data: await changeContact(tx, organization, id, changes, now) };
    },

    async upsert_contact(input, context) {
      const { tx, organization, now } = context;
      const { contact, created } = await findOrCreateByPhone(input, context);
      if (created) {
        return { data: { ...contact, created } };
      }
      const { phone_number: _, ...changes } = input;
      return { data: { ...(await changeContact(tx, organization, contact.id, changes, now)), created } };
    },

    async tag_contact({ id, add, remove }, { tx, organization, now }) {
      const { tags } = await getContact(tx, organization, id, { locks: true });
      const kept = new Set([...tags, ...add]);
      for (const tag of remove) {
        kept.delete(tag);
      }
      if (kept.size > maxTags && kept.size > tags.length) {
        throw fail("too_many_tags", { limit: maxTags, count: kept.size, param: "add" });
      }
      return { data: await changeContact(tx, organization, id, { tags: [...kept] }, now) };
    },

    async delete_contact({ id }, context) {
      const { tx, organization, now } = context;
      const { phone_number, bsuid } = await getContact(tx, organization, id, { locks: true });
      await closeThreadsOf(context, { organization, contact_id: id });
      await erase(tx, { organization, id, phone_number, bsuid, now });
      return { data: { id, deleted: true as const } };
    },
  },
});

/** A contact of the organization; locked until the commit if asked. @throws Failure `contact_not_found`. */
export async function getContact(db: Queries, organization: string, id: string, { locks = false } = {}) {
  const contact = await living(db, organization)
    .selectAll()
    .where("id", "=", id)
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirst();
  if (!contact) {
    throw fail("contact_not_found");
  }
  return contact;
}

interface Changes {
  readonly name?: string | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly opted_out?: boolean | undefined;
  readonly tags?: string[];
}

/** Changes what is given; a name of no letters takes the name away. @throws Failure `contact_not_found`. */
export async function changeContact(
  tx: Transaction,
  organization: string,
  id: string,
  { name, metadata, opted_out, tags }: Changes,
  now: Date,
) {
  const changed = await tx
    .updateTable("contacts")
    .set({
      ...(name === undefined ? {} : { name: name || null, search_text: renamed(name) }),
      metadata: metadata && JSON.stringify(metadata),
      opted_out,
      tags,
      updated_at: now.toISOString(),
    })
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .where("erased_at", "is", null)
    .returningAll()
    .executeTakeFirst();
  if (!changed) {
    throw fail("contact_not_found");
  }
  return changed;
}

/** The contact with this number, however it is written; made if there is none. @throws Failure `invalid_phone_number`. */
async function findOrCreateByPhone(
  given: Pick<Wanted, "name" | "metadata"> & { readonly phone_number: string },
  { tx, organization, now }: WriteContext,
) {
  const phone_number = normalizePhone(given.phone_number, "phone_number");
  return findOrCreateContact(tx, { ...given, organization, phone_number, now });
}

function living(db: Queries, organization: string) {
  return db.selectFrom("contacts").where("organization_id", "=", organization).where("erased_at", "is", null);
}

export { isBsuid } from "./bsuid.ts";
export { normalizePhone } from "./phone.ts";
