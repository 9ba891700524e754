/**
 * Reads one page of a search of contacts, and its total.
 *
 * The page of a common word is read from the newest contacts, in the order of the list and without the search index,
 * which yields every match of every organization. The index finds the matches of a rare word.
 */
import { sql } from "kysely";
import type { Database, Queries } from "../../../database/database.ts";
import { estimateTotal } from "../../../database/query/index.ts";
import { containsTrigrams, containsWords, hasTag } from "./search.ts";
import { selectContacts } from "./select.ts";

/**
 * `newest`: the contacts that are read without the index. 10,000 take 3 ms on PostgreSQL, 1,000 take 2 ms on the embedded
 * engine.
 *
 * `counted`: the matches of a rare word are counted up to this number, because each is read from the table. 1,000 take about
 * 20 ms, and on the embedded engine five times as long, during which no other query runs.
 */
const limits = {
  postgres: { newest: 10_000, counted: 1_000 },
  embedded: { newest: 1_000, counted: 100 },
} as const;

export interface ContactSearch {
  readonly organization: string;
  /** At least one. */
  readonly words: readonly string[];
  readonly tag: string | undefined;
}

interface Paging {
  readonly page: number;
  readonly per_page: number;
}

/** Returns the same as `readPage`. */
export async function readSearchPage(
  db: Queries,
  engine: Database["engine"],
  search: ContactSearch,
  { page, per_page }: Paging,
) {
  const start = (page - 1) * per_page;
  const end = start + per_page;
  const matches = await finders[engine](db, search, end);
  if (matches.type === "all") {
    const rows = await readByIds(db, search, matches.ids.slice(start, end));
    return { rows, meta: { page, per_page, total: matches.ids.length } };
  }
  const { newest, minimum } = matches;
  const rows =
    end <= newest.length
      ? await readByIds(db, search, newest.slice(start, end))
      : await readByIndex(db, search, { limit: per_page, offset: start });
  return { rows, meta: { page, per_page, ...(await estimateTotal(selectMatches(db, search), minimum)) } };
}

type Ids = readonly string[];

type Matches =
  /** Newest first. */
  | { readonly type: "all"; readonly ids: Ids }
  /** Too many to be counted, but at least `minimum`. `newest` are the first of them, among the newest contacts. */
  | { readonly type: "many"; readonly newest: Ids; readonly minimum: number };

/** Finds all matches, or those that the page up to `end` may show. */
type Finder = (db: Queries, search: ContactSearch, end: number) => Promise<Matches>;

const finders: Readonly<Record<Database["engine"], Finder>> = {
  async postgres(db, search, end) {
    const { newest: among, counted } = limits.postgres;
    const newest = await findNewest(db, search, { among, limit: Math.max(counted + 1, end) });
    if (newest.length > counted) {
      return { type: "many", newest, minimum: newest.length };
    }
    if (!(await hasMoreContacts(db, search, among))) {
      return { type: "all", ids: newest };
    }
    const ids = await findByIndex(db, search, counted + 1);
    return ids.length > counted ? { type: "many", newest, minimum: ids.length } : { type: "all", ids };
  },

  // The index first: each statement costs more than reading the index for one organization.
  async embedded(db, search, end) {
    const { newest: among, counted } = limits.embedded;
    const ids = await findByIndex(db, search, counted + 1);
    if (ids.length <= counted) {
      return { type: "all", ids };
    }
    const newest = await findNewest(db, search, { among, limit: Math.max(counted + 1, end) });
    return { type: "many", newest, minimum: ids.length };
  },
};

/** The ids of the matches among the newest contacts, newest first. */
function findNewest(
  db: Queries,
  search: ContactSearch,
  { among, limit }: { readonly among: number; readonly limit: number },
): Promise<Ids> {
  const newest = selectContacts(db, search.organization).selectAll().orderBy("id", "desc").limit(among);
  const matches = db.selectFrom(newest.as("newest")).where(isMatch(search));
  return readIds(matches.select("id").orderBy("id", "desc").limit(limit));
}

async function hasMoreContacts(
  db: Queries,
  { organization }: ContactSearch,
  count: number,
): Promise<boolean> {
  const next = selectContacts(db, organization).select("id").orderBy("id", "desc").offset(count).limit(1);
  return (await next.executeTakeFirst()) !== undefined;
}

/** The ids of all matches, newest first, or of any `limit` of them. */
function findByIndex(db: Queries, search: ContactSearch, limit: number): Promise<Ids> {
  const matches = selectMatches(db, search).where(containsTrigrams(search.words)).select("id").limit(limit);
  return readIds(db.selectFrom(matches.as("matches")).select("id").orderBy("id", "desc"));
}

async function readIds(query: { execute(): Promise<readonly { readonly id: string }[]> }): Promise<Ids> {
  return (await query.execute()).map(({ id }) => id);
}

/** The contacts of these ids that are still matches, newest first. */
function readByIds(db: Queries, search: ContactSearch, ids: Ids) {
  return selectMatches(db, search)
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .selectAll()
    .orderBy("id", "desc")
    .execute();
}

function readByIndex(
  db: Queries,
  search: ContactSearch,
  { limit, offset }: { readonly limit: number; readonly offset: number },
) {
  return selectMatches(db, search)
    .where(containsTrigrams(search.words))
    .selectAll()
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();
}

function selectMatches(db: Queries, search: ContactSearch) {
  return selectContacts(db, search.organization).where(isMatch(search));
}

function isMatch({ words, tag }: ContactSearch) {
  const isTagged = tag === undefined ? [] : [hasTag(tag)];
  return sql<boolean>`${sql.join([containsWords(words), ...isTagged], sql` and `)}`;
}
