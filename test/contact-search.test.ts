/**
 * Pages and totals of a search of contacts: of words that are common, rare, or in the names of
 * the oldest contacts.
 *
 * @module-tag both
 */
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { contacts } from "../tools/contacts.ts";
import { useTestApp } from "./support/app.ts";

const app = useTestApp();

/**
 * More matches than these are estimated. The newest ten times as many contacts are read without the index.
 */
const maxCounted = () => (app.server.database.engine === "postgres" ? 1_000 : 100);
const perPage = 50;

/** Which contacts have the word in their names, by their numbers from 1, the oldest. */
const words: Readonly<Record<string, (number: number) => boolean>> = {
  common: (number) => number % 2 === 0,
  spread: (number) => number % 75 === 0,
  ancient: (number) => number <= 1.5 * maxCounted(),
  first: (number) => number <= 10,
  c: (number) => words.common?.(number) || words.ancient?.(number) || false,
  absent: () => false,
};

beforeAll(async () => {
  const numbers = Array.from({ length: 12 * maxCounted() }, (_, index) => index + 1);
  const rows = numbers.map((number) => ({
    id: idOf(number),
    search_text: ["common", "spread", "ancient", "first"].filter((word) => words[word]?.(number)).join(" "),
    tags: number % 3 === 0 ? ["third"] : [],
  }));
  await sql`
    insert into contacts (organization_id, id, search_text, tags, metadata, created_at, updated_at)
    select organizations.id, row.id, row.search_text, row.tags, '{}', created_at, created_at
    from organizations, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (id text, search_text text, tags text[])
  `.execute(app.server.database.queries);
});

test.each([
  { search: "common", isEstimate: true },
  { search: "ancient", isEstimate: true },
  { search: "c", isEstimate: true },
  { search: "spread", isEstimate: false },
  { search: "first", isEstimate: false },
  { search: "ancient spread", isEstimate: false },
  { search: "absent", isEstimate: false },
  { search: "common", tag: "third", isEstimate: true },
  { search: "first", tag: "third", isEstimate: false },
])("$search, tag $tag", async ({ isEstimate, ...search }) => {
  const expected = findAll(search);
  const pages = Math.ceil(expected.length / perPage);
  // Every page of the embedded engine, the same share of them on PostgreSQL.
  const step = maxCounted() / 100;
  for (let page = 1; page <= pages + 1; page += step) {
    const { data, meta } = await app.call(contacts.list_contacts, { ...search, page, per_page: perPage });
    expect(data.map(({ id }) => id)).toEqual(expected.slice((page - 1) * perPage, page * perPage));
    expect(meta).toMatchObject(isEstimate ? { total_is_estimate: true } : { total: expected.length });
    expect(meta.total).toBeGreaterThan(isEstimate ? maxCounted() : -1);
    expect("total_is_estimate" in meta).toBe(isEstimate);
  }
});

function findAll({ search, tag }: { readonly search: string; readonly tag?: string | undefined }): string[] {
  return Array.from({ length: 12 * maxCounted() }, (_, index) => 12 * maxCounted() - index)
    .filter((number) => search.split(" ").every((word) => words[word]?.(number)))
    .filter((number) => tag === undefined || number % 3 === 0)
    .map(idOf);
}

function idOf(number: number): string {
  return `con_${String(number).padStart(24, "0")}`;
}
