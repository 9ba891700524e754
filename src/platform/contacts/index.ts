/** Contacts: find, create, change and erase the people an organization talks to. */
import { contacts as contract } from "../../../tools/contacts.ts";
import { fail } from "../../../tools/failure.ts";
import type { Queries, Transaction } from "../../database/database.ts";
import { closeThreadsOf } from "../core/capacity.ts";
import { implement } from "../core/module.ts";
import { matchesCountedUpTo, readPage } from "../core/page.ts";
import { normalizePhone } from "../core/phone.ts";
import { refersTo } from "../core/refers-to.ts";
import { erase } from "./erase.ts";
import { findOrCreateContact } from "./find.ts";
import { maxTags } from "./limits.ts";
import { hasTag, matches, renamed } from "./search.ts";

export { findOrCreateContact } from "./find.ts";
export { type Person, type Upserted, upsertContacts } from "./upsert-many.ts";

export const contacts = implement(contract, {
  operations: {
    async create_contact(input, { tx, organization, now }) {
      const phone_number = normalizePhone(input.phone_number, "phone_number");
      const { contact, created } = await findOrCreateContact(tx, {
        ...input,
        organization,
        phone_number,
        now,
      });
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

    async upsert_contact(input, { tx, organization, now }) {
      const phone_number = normalizePhone(input.phone_number, "phone_number");
      const { contact, created } = await findOrCreateContact(tx, {
        ...input,
        organization,
        phone_number,
        now,
      });
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

/** The contact whom the channel calls by this business-scoped id; held until the commit. */
export async function findByBsuid(tx: Transaction, organization: string, bsuid: string) {
  return tx
    .selectFrom("contact_identities")
    .innerJoin("contacts", (join) => join.on(refersTo("contact_identities.contact_id", "contacts")))
    .selectAll("contacts")
    .where("contact_identities.organization_id", "=", organization)
    .where("kind", "=", "bsuid")
    .where("value", "=", bsuid)
    .where("contacts.erased_at", "is", null)
    .forKeyShare("contacts")
    .executeTakeFirst();
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
      ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
      ...(opted_out === undefined ? {} : { opted_out }),
      ...(tags === undefined ? {} : { tags }),
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

function living(db: Queries, organization: string) {
  return db.selectFrom("contacts").where("organization_id", "=", organization).where("erased_at", "is", null);
}
