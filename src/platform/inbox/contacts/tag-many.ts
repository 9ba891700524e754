/** Changes the tags of many contacts with two statements. */
import { type RawBuilder, sql } from "kysely";
import { columnsOf, matchesKey, recordset, rowsOf } from "../../../database/query/index.ts";
import { isListenedTo, type OrganizationChange } from "../../foundation/kernel/index.ts";
import { normalizedAtAfterChange, normalizedTexts } from "./conditions/index.ts";
import { emitAddedTags, emitUpdated, isUpdateListenedTo } from "./emit.ts";
import { combineTags } from "./tags.ts";

/** Contacts that one transaction changes. */
export const maxTagged = 1_000;

interface TagChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

export interface TaggedContacts {
  readonly changed: number;
  /** Contacts that stayed as they are, because they would have had too many tags. */
  readonly rejected: number;
  /** Contacts above `maxTagged` that still need the change. */
  readonly remaining: number;
}

/**
 * Tags the first `maxTagged` contacts, by id, that meet the condition and whose tags the change would change.
 * They are locked in the order of their ids, as by `upsertContacts`.
 */
export async function tagContacts(
  change: OrganizationChange,
  condition: RawBuilder<unknown>,
  tags: TagChange,
): Promise<TaggedContacts> {
  const contacts = await lockUnchanged(change, condition, tags);
  const drafts = contacts.map((contact) => ({ contact, ...combineTags(contact.tags, tags) }));
  const changed = drafts.filter(({ isTooMany }) => !isTooMany);
  await storeTags(
    change,
    changed.map(({ contact, tags: stored }) => ({ ...contact, tags: stored })),
  );
  for (const { contact, tags: stored } of changed) {
    if (contact.is_tag_listened_to) {
      emitAddedTags(change, contact, stored);
    }
    if (contact.is_update_listened_to) {
      emitUpdated(change, contact, ["tags"]);
    }
  }
  const [first] = contacts;
  return {
    changed: changed.length,
    rejected: drafts.length - changed.length,
    remaining: first ? first.count - contacts.length : 0,
  };
}

const lockedColumns = {
  ...columnsOf("contacts", "organization_id", "id", "name", "tags", "metadata", "opted_out", "blocked_at"),
  is_tag_listened_to: "boolean",
  is_update_listened_to: "boolean",
  count: "integer",
} as const;

async function lockUnchanged(
  { tx, organization }: OrganizationChange,
  condition: RawBuilder<unknown>,
  { add, remove }: TagChange,
) {
  const { rows } = await rowsOf(lockedColumns)`
    with found as materialized (
      select contacts.id from contacts
      where contacts.organization_id = ${organization} and contacts.erased_at is null and ${condition}
        and (not contacts.tags @> ${[...add]}::text[] or contacts.tags && ${[...remove]}::text[])
    )
    select contacts.organization_id, contacts.id, contacts.name, contacts.tags, contacts.metadata,
      contacts.opted_out, contacts.blocked_at,
      ${isListenedTo(sql`contacts.organization_id`, ["contact.tag_added"])} as is_tag_listened_to,
      ${isUpdateListenedTo} as is_update_listened_to,
      (select count(*) from found)::integer as count
    from contacts
    where contacts.organization_id = ${organization}
      and contacts.id in (select id from found order by id limit ${maxTagged})
    order by contacts.id
    for no key update of contacts
  `.execute(tx);
  return rows;
}

const draftColumns = columnsOf("contacts", "id", "tags", "normalized");

interface TaggedContact {
  readonly id: string;
  readonly name: string | null;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

async function storeTags(
  { tx, organization, now }: OrganizationChange,
  contacts: readonly TaggedContact[],
): Promise<void> {
  if (contacts.length === 0) {
    return;
  }
  const ids = contacts.map(({ id }) => id);
  const drafts = contacts.map(({ id, name, tags, metadata }) => ({
    id,
    tags,
    normalized: normalizedTexts({ name, tags, metadata }),
  }));
  await sql`
    update contacts set tags = draft.tags, normalized = nullif(draft.normalized, '{}'::jsonb),
      normalized_at = ${normalizedAtAfterChange(now)}, updated_at = ${now.toISOString()}::timestamptz
    from ${recordset("draft", draftColumns, drafts)}
    where contacts.organization_id = ${organization} and ${matchesKey("contacts.id", "draft.id", ids)}
  `.execute(tx);
}
