/**
 * Finds or creates many contacts by their numbers, in three statements however many they are.
 *
 * One by one they took three statements each, and 100,000 of them three minutes. Rows are locked by their ids
 * and made in the order of their numbers, so that two who do this at once wait for each other in turn.
 */
import { sql } from "kysely";
import { maxMetadata } from "../../../tools/contract/index.ts";
import type { Transaction } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { refersTo } from "../../database/query/index.ts";
import { maxTags } from "./limits.ts";
import { phoneKey } from "./phone.ts";
import { searchTextOf } from "./search.ts";

/** What is said of a person; what is not said stays as it is. */
export interface Person {
  /** In E.164 form. */
  readonly phone_number: string;
  readonly name: string | undefined;
  /** Added to those that the contact has. */
  readonly tags: readonly string[];
  /** Put over those that the contact has. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What became of it; the last two changed nothing. */
export type Upserted = "created" | "updated" | "too_many_tags" | "too_much_metadata";

/** A contact as it is to be written; under its number as it is compared. */
interface Draft {
  readonly key: string;
  readonly id: string;
  readonly phone_number: string | null;
  readonly username: string | null;
  readonly name: string | null;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly isNew: boolean;
  readonly isChanged: boolean;
}

/** In the order of the people; of two with one number the second finds what the first has made. */
export async function upsertContacts(
  tx: Transaction,
  organization: string,
  people: readonly Person[],
  now: Date,
): Promise<Upserted[]> {
  const outcomes = new Map<Person, Upserted>();
  let left = people;
  while (left.length > 0) {
    const drafts = await lockKnown(tx, organization, left);
    for (const person of left) {
      const key = phoneKey(person.phone_number);
      const known = drafts.get(key);
      const { draft, outcome } = known ? merge(known, person) : begin(key, person, now);
      drafts.set(key, draft);
      outcomes.set(person, outcome);
    }
    const changed = [...drafts.values()].filter(({ isChanged }) => isChanged);
    await change(
      tx,
      organization,
      changed.filter(({ isNew }) => !isNew),
      now,
    );
    const fresh = changed.filter(({ isNew }) => isNew);
    const made = await create(tx, organization, fresh, now);
    // Somebody else made these between the statements: they are known now.
    const missed = new Set(fresh.flatMap(({ key }) => (made.has(key) ? [] : key)));
    left = left.filter(({ phone_number }) => missed.has(phoneKey(phone_number)));
  }
  return people.map((person) => outcomes.get(person) ?? "updated");
}

/** Held until the commit: whoever changes one of them meanwhile waits. */
async function lockKnown(tx: Transaction, organization: string, people: readonly Person[]) {
  const keys = people.map(({ phone_number }) => phoneKey(phone_number));
  const { rows } = await sql<Omit<Draft, "isNew" | "isChanged">>`
    select value as key, id, phone_number, username, name, tags, metadata
    from contact_identities
    join contacts on ${refersTo("contact_identities.contact_id", "contacts")}
    where contact_identities.organization_id = ${organization} and kind = 'phone'
      and value = any(${keys}::text[]) and contacts.erased_at is null
    order by id
    for no key update of contacts
  `.execute(tx);
  return new Map(rows.map((row): [string, Draft] => [row.key, { ...row, isNew: false, isChanged: false }]));
}

function begin(key: string, person: Person, now: Date) {
  const { phone_number, name = null, tags, metadata } = person;
  const draft: Draft = {
    ...{ key, id: newId("con", now), phone_number, username: null, name, tags, metadata },
    isNew: true,
    isChanged: true,
  };
  return { draft, outcome: "created" as const };
}

function merge(known: Draft, person: Person): { draft: Draft; outcome: Upserted } {
  const tags = [...new Set([...known.tags, ...person.tags])];
  if (tags.length > maxTags && tags.length > known.tags.length) {
    return { draft: known, outcome: "too_many_tags" };
  }
  const news = Object.entries(person.metadata).filter(([name, value]) => known.metadata[name] !== value);
  const metadata = { ...known.metadata, ...Object.fromEntries(news) };
  if (news.length > 0 && JSON.stringify(metadata).length > maxMetadata) {
    return { draft: known, outcome: "too_much_metadata" };
  }
  const name = person.name ?? known.name;
  // What says nothing new is not written: a file that is imported again costs little.
  const isSame = name === known.name && tags.length === known.tags.length && news.length === 0;
  const draft = { ...known, name, tags, metadata, isChanged: known.isChanged || !isSame };
  return { draft, outcome: "updated" };
}

async function change(tx: Transaction, organization: string, drafts: readonly Draft[], now: Date) {
  if (drafts.length === 0) {
    return;
  }
  await sql`
    update contacts set name = draft.name, search_text = draft.search_text, tags = draft.tags,
      metadata = draft.metadata, updated_at = ${now.toISOString()}::timestamptz
    from ${records(drafts)}
    where contacts.organization_id = ${organization} and contacts.id = draft.id
  `.execute(tx);
}

/** The keys of those that nobody had: an identity is what two who create at once compete for. */
async function create(tx: Transaction, organization: string, drafts: readonly Draft[], now: Date) {
  if (drafts.length === 0) {
    return new Set<string>();
  }
  const at = sql`${now.toISOString()}::timestamptz`;
  // In one statement, so that there is never an identity without its contact.
  const { rows } = await sql<{ key: string }>`
    with draft as (select * from ${records(drafts)}),
    claimed as (
      insert into contact_identities (organization_id, kind, value, contact_id, created_at)
      select ${organization}, 'phone', key, id, ${at} from draft order by key
      on conflict do nothing
      returning value as key, contact_id
    ),
    made as (
      insert into contacts
        (organization_id, id, phone_number, name, search_text, tags, metadata, created_at, updated_at)
      select ${organization}, id, phone_number, name, search_text, tags, metadata, ${at}, ${at}
      from claimed join draft using (key)
    )
    select key from claimed
  `.execute(tx);
  return new Set(rows.map(({ key }) => key));
}

const records = (drafts: readonly Draft[]) => {
  const rows = drafts.map(({ key, id, phone_number, username, name, tags, metadata }) => ({
    ...{ key, id, phone_number, name, tags, metadata },
    search_text: searchTextOf(name, phone_number, username),
  }));
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as draft (key text, id text,
    phone_number text, name text, search_text text, tags text[], metadata jsonb)`;
};
