/**
 * What conditions compare of a contact, stored with it because PostgreSQL can't compute it: the country of the number, and
 * the normalized texts.
 *
 * PostgreSQL lowers ASCII letters alike everywhere, but has no form of `normalizeText` that is the same in each version
 * and on both engines. So only the texts that need more are stored: names, tags and metadata with capital letters outside
 * ASCII, compatible forms or loose accents. For all other contacts `normalized` is null.
 */
import { sql } from "kysely";
import type { Queries } from "../../database/database.ts";
import { countryOf, normalizeText } from "../query/index.ts";

export interface ComparedTexts {
  readonly name?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The texts that SQL must compare in another form than it computes itself, by the column that they replace. */
export function normalizedTexts({ name, tags, metadata }: ComparedTexts): Record<string, unknown> {
  const texts: Record<string, unknown> = {};
  if (name && !isSimple(name)) {
    texts.name = normalizeText(name);
  }
  // Compared as they are, because tags are stored in small letters.
  if (tags?.some((tag) => normalizeText(tag) !== tag)) {
    texts.tags = tags.map(normalizeText);
  }
  if (metadata && !isSimple(metadata)) {
    texts.metadata = normalizeValue(metadata);
  }
  return texts;
}

/** The value of `normalized` for a whole contact, as JSON. */
export function normalizedColumn(texts: ComparedTexts): string | null {
  const normalized = normalizedTexts(texts);
  return Object.keys(normalized).length === 0 ? null : JSON.stringify(normalized);
}

/** The columns to set with a change of some texts, computed from the row. */
export function normalizedAfterChange(changes: ComparedTexts, now: Date) {
  const changed = Object.entries(changes).flatMap(([column, value]) => (value === undefined ? [] : column));
  const normalized = JSON.stringify(normalizedTexts(changes));
  return {
    ...(changed.length === 0
      ? {}
      : {
          normalized: sql<string | null>`nullif(
            (coalesce(normalized, '{}'::jsonb) - ${changed}::text[]) || ${normalized}::jsonb, '{}'::jsonb)`,
        }),
    normalized_at: normalizedAtAfterChange(now),
  };
}

/** A row that an earlier version wrote stays recognizable until `normalizeContacts` computes it. */
export function normalizedAtAfterChange(now: Date) {
  return sql<string | null>`case when normalized_at = updated_at then ${now.toISOString()}::timestamptz end`;
}

/** Whether the columns of a contact are out of date; an earlier version has written it since. */
export const isNotNormalized = sql<boolean>`contacts.normalized_at is distinct from contacts.updated_at`;

const batchSize = 1_000;

/**
 * Computes the columns of the next contacts that an earlier version wrote. Returns the last id; undefined at the end.
 * A contact that changes meanwhile is left to the next call.
 */
export async function normalizeContacts(
  db: Queries,
  organization: string,
  after: string,
): Promise<string | undefined> {
  const rows = await db
    .selectFrom("contacts")
    .select(["id", "phone_number", "name", "tags", "metadata", sql<string>`updated_at::text`.as("version")])
    .where("organization_id", "=", organization)
    .where("id", ">", after)
    .where("erased_at", "is", null)
    .where(isNotNormalized)
    .orderBy("id")
    .limit(batchSize)
    .execute();
  const values = rows.map(({ id, phone_number, version, ...texts }) => ({
    ...{ id, version, country: countryOf(phone_number) },
    normalized: normalizedTexts(texts),
  }));
  await sql`
    update contacts set country = value.country, normalized = nullif(value.normalized, '{}'::jsonb),
      normalized_at = updated_at
    from jsonb_to_recordset(${JSON.stringify(values)}::jsonb)
      as value (id text, version timestamptz, country text, normalized jsonb)
    where contacts.organization_id = ${organization} and contacts.id = value.id
      and contacts.updated_at = value.version and contacts.erased_at is null
  `.execute(db);
  return rows.length < batchSize ? undefined : rows.at(-1)?.id;
}

/** Whether small ASCII letters are all that the normalized form needs. */
function isSimple(value: unknown): boolean {
  if (typeof value === "string") {
    return isAscii(value) || normalizeText(value) === lowerAscii(value);
  }
  return typeof value !== "object" || value === null || Object.values(value).every(isSimple);
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** A JSON value with normalized texts; the names of members are compared as they are. */
function normalizeValue(value: unknown): unknown {
  if (typeof value === "string") {
    return normalizeText(value);
  }
  if (Array.isArray(value)) {
    return value.map(normalizeValue);
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, normalizeValue(member)]))
    : value;
}
