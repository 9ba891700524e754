/**
 * What conditions compare of a contact, stored with it because PostgreSQL can't compute it: the country of
 * the number, and the normalized texts.
 *
 * PostgreSQL lowers ASCII letters alike everywhere, but has no form of `normalizeText` that is the same in
 * each version and on both engines. So only the texts that need more are stored: names, tags and metadata
 * with capital letters outside ASCII, compatible forms or loose accents. For all other contacts
 * `normalized` is null.
 */
import { sql } from "kysely";
import { fail } from "../../../../../tools/errors.ts";
import type { Database, Queries } from "../../../../database/database.ts";
import { columnsOf, matchesKey, ofOrganization, recordset } from "../../../../database/query/index.ts";
import { countryOf } from "../../../account/phone/index.ts";
import type { World } from "../../../foundation/kernel/index.ts";
import { normalizeText } from "../../../foundation/query/index.ts";

export interface ComparedTexts {
  readonly name?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The texts that SQL must compare in another form than it computes itself, by the column that they replace.
 */
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

const batchSize = 1_000;

/**
 * How long a process trusts that an organization has no other such contacts: a process of an earlier
 * version may run beside.
 */
const trustedMs = 3_600_000;

/** Of one call; what it computed stays for the next. */
const maxMs = 15_000;

const checked = new WeakMap<Database, Map<string, number>>();

/**
 * Computes the columns of the contacts that an earlier version wrote. Reads all contacts of the
 * organization, once an hour.
 * @throws Failure `unavailable` if there are more than fit in the time of a call.
 */
export async function normalizeContacts(
  { database, now }: Pick<World, "database" | "now">,
  organization: string,
) {
  const times = checked.get(database) ?? new Map<string, number>();
  checked.set(database, times);
  const startedAt = now().getTime();
  if (startedAt - (times.get(organization) ?? Number.NEGATIVE_INFINITY) < trustedMs) {
    return;
  }
  let after: string | undefined = "";
  while (after !== undefined) {
    after = await normalizeBatch(database.queries, organization, after);
    if (after !== undefined && now().getTime() - startedAt > maxMs) {
      throw fail("unavailable", { reason: "the contacts are being prepared for queries.", retry_after: 1 });
    }
  }
  times.set(organization, startedAt);
}

/** Returns the last id; undefined at the end. A contact that changes meanwhile is left to a later call. */
async function normalizeBatch(db: Queries, organization: string, after: string): Promise<string | undefined> {
  const rows = await ofOrganization(db, organization)
    .selectFrom("contacts")
    .select(["id", "phone_number", "name", "tags", "metadata", sql<string>`updated_at::text`.as("version")])
    .where("id", ">", after)
    .where("erased_at", "is", null)
    .where(sql<boolean>`normalized_at is distinct from updated_at`)
    .orderBy("id")
    .limit(batchSize)
    .execute();
  if (rows.length === 0) {
    return undefined;
  }
  const ids = rows.map(({ id }) => id);
  const values = rows.map(({ id, phone_number, version, ...texts }) => ({
    id,
    version,
    country: countryOf(phone_number),
    normalized: normalizedTexts(texts),
  }));
  await sql`
    update contacts set country = value.country, normalized = nullif(value.normalized, '{}'::jsonb),
      normalized_at = updated_at
    from ${recordset("value", { ...columnsOf("contacts", "id", "country", "normalized"), version: "timestamptz" }, values)}
    where contacts.organization_id = ${organization}
      and ${matchesKey("contacts.id", "value.id", ids)}
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
