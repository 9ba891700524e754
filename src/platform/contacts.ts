/** Contacts: find, create, change and erase the people an organization talks to. */
import { type ExpressionBuilder, sql } from "kysely";
import { contacts as contract } from "../../tools/contacts.ts";
import { fail } from "../../tools/failure.ts";
import type { Queries, Transaction } from "../database/database.ts";
import { newId } from "../database/id.ts";
import type { Tables } from "../database/schema.ts";
import { closeThreadsOf } from "./core/capacity.ts";
import { implement } from "./core/module.ts";
import { readPage } from "./core/page.ts";
import { normalizePhone } from "./core/phone.ts";

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

    async list_contacts({ search, ...paging }, { db, organization }) {
      const found = living(db, organization).where((rows) => matches(rows, search ?? ""));
      const { rows, meta } = await readPage(found.selectAll().orderBy("id", "desc"), paging);
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
      return { data: await changeContact(tx, organization, id, { tags: [...kept] }, now) };
    },

    async delete_contact({ id }, context) {
      const { tx, organization, now } = context;
      await getContact(tx, organization, id, { locks: true });
      await closeThreadsOf(context, { organization, contact_id: id });
      await erase(tx, organization, id, now);
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

interface Wanted {
  readonly organization: string;
  /** In E.164 form. */
  readonly phone_number: string;
  readonly name?: string | null | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly now: Date;
}

/**
 * The contact with this number, made if there is none. It is held until the commit: an erasure waits for
 * what is written under it, and then takes that too.
 */
export async function findOrCreateContact(tx: Transaction, wanted: Wanted) {
  const { organization, phone_number } = wanted;
  for (;;) {
    const created = await insertContact(tx, wanted);
    if (created) {
      return { contact: created, created: true };
    }
    const contact = await living(tx, organization)
      .selectAll()
      .where("phone_number", "=", phone_number)
      .forKeyShare()
      .executeTakeFirst();
    if (contact) {
      return { contact, created: false };
    }
    // Erased between the two statements: the number is free again.
  }
}

async function insertContact(
  tx: Transaction,
  { organization, phone_number, name, metadata = {}, now }: Wanted,
) {
  return tx
    .insertInto("contacts")
    .values({
      organization_id: organization,
      id: newId("con", now),
      phone_number,
      name: name || null,
      search_text: searchTextOf(name, phone_number),
      metadata: JSON.stringify(metadata),
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .onConflict((conflict) => conflict.columns(["organization_id", "phone_number"]).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** Changes what is given; a name of no letters takes the name away. @throws Failure `contact_not_found`. */
export async function changeContact(
  tx: Transaction,
  organization: string,
  id: string,
  changes: { name?: string | undefined; metadata?: Record<string, unknown> | undefined; tags?: string[] },
  now: Date,
) {
  const { name, metadata, tags } = changes;
  const changed = await tx
    .updateTable("contacts")
    .set({
      ...(name === undefined ? {} : { name: name || null, search_text: renamed(name) }),
      ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
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

/** Takes the person out of every row, stored answers included, and keeps the messages' rows: what was sent still counts. */
async function erase(tx: Transaction, organization: string, id: string, now: Date): Promise<void> {
  await tx
    .updateTable("contacts")
    .set({
      phone_number: null,
      name: null,
      search_text: "",
      tags: [],
      metadata: "{}",
      erased_at: now.toISOString(),
    })
    .where("organization_id", "=", organization)
    .where("id", "=", id)
    .execute();
  const threads = tx
    .selectFrom("conversations")
    .select("id")
    .where("organization_id", "=", organization)
    .where("contact_id", "=", id);
  await tx
    .updateTable("conversations")
    .set({ erased_at: now.toISOString() })
    .where("organization_id", "=", organization)
    .where("contact_id", "=", id)
    .execute();
  await tx
    .updateTable("messages")
    .set({ content: "{}", from: null, to: null })
    .where("organization_id", "=", organization)
    .where("conversation_id", "in", threads)
    .execute();
  const named = [id, ...(await threads.execute()).map((thread) => thread.id)];
  await tx
    .deleteFrom("idempotency")
    .where("organization_id", "=", organization)
    .where(sql<boolean>`body::text like any(${named.map((name) => `%"${name}"%`)}::text[])`)
    .execute();
}

function living(db: Queries, organization: string) {
  return db.selectFrom("contacts").where("organization_id", "=", organization).where("erased_at", "is", null);
}

/** Every word of the search is part of the name or of the number, in any order. */
function matches(rows: ExpressionBuilder<Tables, "contacts">, search: string) {
  const isNumber = /^[\d\s()+.-]*\d[\d\s()+.-]*$/.test(search);
  const words = isNumber ? [search.replace(/\D/g, "")] : searchable(search).split(/\s+/).filter(Boolean);
  return rows.and(words.map((word) => rows("search_text", "like", `%${word.replace(/[\\%_]/g, "\\$&")}%`)));
}

function searchTextOf(name: string | null | undefined, phone_number: string): string {
  return `${searchable(name ?? "")} ${phone_number}`;
}

/** The same for a new name, with the number that the row has. */
function renamed(name: string) {
  return sql<string>`${searchable(name)} || ' ' || coalesce(phone_number, '')`;
}

/** Small letters without accents, so that "lopez" finds López, and "lukasz" Łukasz. */
function searchable(text: string): string {
  const bare = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return bare.replace(/[łøđßæœı]/g, (letter) => plain[letter] ?? letter);
}

/** Letters that are no accented ones, as they are typed where the keyboard has none of them. */
const plain: Readonly<Record<string, string>> = { ł: "l", ø: "o", đ: "d", ß: "ss", æ: "ae", œ: "oe", ı: "i" };
