/**
 * Finds or creates many contacts by phone number, with three statements for any number of contacts.
 *
 * One at a time, each contact took three statements and 100,000 contacts took three minutes. Rows are
 * locked in the order of their ids and inserted in the order of their numbers, so that concurrent
 * calls don't deadlock.
 */
import { sql } from "kysely";
import { maxMetadata } from "../../../../tools/contract/index.ts";
import type { DatabaseTransaction } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import {
  columnOf,
  columnsOf,
  matchesKey,
  recordset,
  refersTo,
  rowsOf,
} from "../../../database/query/index.ts";
import { countryOf, phoneKey } from "../../account/phone/index.ts";
import { normalizedAtAfterChange, normalizedTexts } from "./conditions/index.ts";
import { searchTextOf } from "./search.ts";
import { combineTags } from "./tags.ts";

/** The fields to set; an undefined name stays unchanged. */
export interface ContactInput {
  /** In E.164 form. */
  readonly phone_number: string;
  readonly name: string | undefined;
  /** Added to the contact's tags. */
  readonly tags: readonly string[];
  /** Merged into the contact's metadata, key by key. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The last two mean that the contact was not changed. */
export type UpsertOutcome = "created" | "updated" | "too_many_tags" | "too_much_metadata";

/** A contact as it will be written. */
interface Draft {
  /** The phone number's `phoneKey`. */
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

interface UpsertOptions {
  readonly now: Date;
  /**
   * Counts new contacts before they are inserted. Called with a number below zero if another transaction has
   * inserted some of them.
   */
  countNew?(count: number): Promise<void>;
}

/**
 * Returns the outcomes in the order of the inputs. Of two inputs with the same number, the second updates
 * the first's contact.
 */
export async function upsertContacts(
  tx: DatabaseTransaction,
  organization: string,
  inputs: readonly ContactInput[],
  { now, countNew }: UpsertOptions,
): Promise<UpsertOutcome[]> {
  const outcomes = new Map<ContactInput, UpsertOutcome>();
  let pending = inputs;
  while (pending.length > 0) {
    const drafts = await lockExisting(tx, organization, pending);
    for (const input of pending) {
      const key = phoneKey(input.phone_number);
      const existing = drafts.get(key);
      const { draft, outcome } = existing ? mergeDraft(existing, input) : createDraft(key, input, now);
      drafts.set(key, draft);
      outcomes.set(input, outcome);
    }
    const changed = [...drafts.values()].filter(({ isChanged }) => isChanged);
    const updates = changed.filter(({ isNew }) => !isNew);
    const inserts = changed.filter(({ isNew }) => isNew);
    await updateContacts(tx, organization, updates, now);
    await (inserts.length > 0 && countNew?.(inserts.length));
    const insertedKeys = await insertContacts(tx, organization, inserts, now);
    // Another transaction created the missing contacts between the statements: the next round updates them.
    const conflicts = new Set(inserts.flatMap(({ key }) => (insertedKeys.has(key) ? [] : key)));
    await (conflicts.size > 0 && countNew?.(-conflicts.size));
    pending = pending.filter(({ phone_number }) => conflicts.has(phoneKey(phone_number)));
  }
  return inputs.map((input) => outcomes.get(input) ?? "updated");
}

const existingColumns = {
  key: columnOf("contact_identities", "value"),
  ...columnsOf("contacts", "id", "phone_number", "username", "name", "tags", "metadata"),
};

/** Locked until the commit, so that concurrent changes wait. */
async function lockExisting(tx: DatabaseTransaction, organization: string, inputs: readonly ContactInput[]) {
  const keys = inputs.map(({ phone_number }) => phoneKey(phone_number));
  const { rows } = await rowsOf(existingColumns)`
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

function createDraft(key: string, input: ContactInput, now: Date) {
  const { phone_number, name = null, tags, metadata } = input;
  const draft: Draft = {
    key,
    id: newId("con", now),
    phone_number,
    username: null,
    name,
    tags,
    metadata,
    isNew: true,
    isChanged: true,
  };
  return { draft, outcome: "created" as const };
}

function mergeDraft(existing: Draft, input: ContactInput): { draft: Draft; outcome: UpsertOutcome } {
  const { tags, isTooMany } = combineTags(existing.tags, { add: input.tags });
  if (isTooMany) {
    return { draft: existing, outcome: "too_many_tags" };
  }
  const changes = Object.entries(input.metadata).filter(([key, value]) => existing.metadata[key] !== value);
  const metadata = { ...existing.metadata, ...Object.fromEntries(changes) };
  if (changes.length > 0 && JSON.stringify(metadata).length > maxMetadata) {
    return { draft: existing, outcome: "too_much_metadata" };
  }
  const name = input.name ?? existing.name;
  // Unchanged contacts are not written, so that importing a file again costs little.
  const isSame = name === existing.name && tags.length === existing.tags.length && changes.length === 0;
  const draft = { ...existing, name, tags, metadata, isChanged: existing.isChanged || !isSame };
  return { draft, outcome: "updated" };
}

async function updateContacts(
  tx: DatabaseTransaction,
  organization: string,
  drafts: readonly Draft[],
  now: Date,
) {
  if (drafts.length === 0) {
    return;
  }
  const ids = drafts.map(({ id }) => id);
  await sql`
    update contacts set name = draft.name, search_text = draft.search_text, tags = draft.tags,
      metadata = draft.metadata, normalized = nullif(draft.normalized, '{}'::jsonb),
      normalized_at = ${normalizedAtAfterChange(now)}, updated_at = ${now.toISOString()}::timestamptz
    from ${toRecordset(drafts)}
    where contacts.organization_id = ${organization} and ${matchesKey("contacts.id", "draft.id", ids)}
  `.execute(tx);
}

/** Returns the keys of the inserted contacts; a concurrent transaction may have inserted the rest. */
async function insertContacts(
  tx: DatabaseTransaction,
  organization: string,
  drafts: readonly Draft[],
  now: Date,
) {
  if (drafts.length === 0) {
    return new Set<string>();
  }
  const created_at = sql`${now.toISOString()}::timestamptz`;
  // One statement, so that there is never an identity without its contact.
  const { rows } = await rowsOf({ key: "text" })`
    with draft as (select * from ${toRecordset(drafts)}),
    claimed as (
      insert into contact_identities (organization_id, kind, value, contact_id, created_at)
      select ${organization}, 'phone', key, id, ${created_at} from draft order by key
      on conflict do nothing
      returning value as key, contact_id
    ),
    made as (
      insert into contacts
        (organization_id, id, phone_number, name, search_text, tags, metadata, created_at, updated_at,
          country, normalized, normalized_at)
      select ${organization}, id, phone_number, name, search_text, tags, metadata, ${created_at}, ${created_at},
        country, nullif(normalized, '{}'::jsonb), ${created_at}
      from claimed join draft using (key)
    )
    select key from claimed
  `.execute(tx);
  return new Set(rows.map(({ key }) => key));
}

const draftColumns = {
  key: "text",
  ...columnsOf(
    "contacts",
    "id",
    "phone_number",
    "name",
    "search_text",
    "tags",
    "metadata",
    "country",
    "normalized",
  ),
} as const;

/** The drafts as a table expression. */
function toRecordset(drafts: readonly Draft[]) {
  const rows = drafts.map(({ key, id, phone_number, username, name, tags, metadata }) => ({
    key,
    id,
    phone_number,
    name,
    tags,
    metadata,
    search_text: searchTextOf(name, phone_number, username),
    country: countryOf(phone_number),
    normalized: normalizedTexts({ name, tags, metadata }),
  }));
  return recordset("draft", draftColumns, rows);
}
