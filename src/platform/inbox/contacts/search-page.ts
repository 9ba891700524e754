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

/** Contacts that are read without the index: 10,000 take 3 ms on PostgreSQL, 1,000 take 2 ms on the embedded engine. */
const maxNewest = { postgres: 10_000, embedded: 1_000 } as const;

/**
 * The matches of a word that is rarer than that are counted up to this number, because each is read from the table:
 * 1,000 take about 20 ms, and on the embedded engine five times as long, during which no other query runs.
 */
const maxCounted = { postgres: 1_000, embedded: 100 } as const;

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
  const max = maxCounted[engine];
  const { found, newest } = await finders[engine]({
    newest: () => findNewest(db, search, { among: maxNewest[engine], limit: Math.max(max + 1, end) }),
    hasOthers: () => hasMoreContacts(db, search, maxNewest[engine]),
    byIndex: () => findByIndex(db, search, max + 1),
    max,
  });
  const isCounted = found.length <= max;
  const matches = selectMatches(db, search);
  const ordered = matches.selectAll().orderBy("id", "desc");
  const rows =
    isCounted || end <= newest.length
      ? await ordered.where(isOneOf((isCounted ? found : newest).slice(start, end))).execute()
      : await ordered.where(containsTrigrams(search.words)).limit(per_page).offset(start).execute();
  const total = isCounted ? { total: found.length } : await estimateTotal(matches, found.length);
  return { rows, meta: { page, per_page, ...total } };
}

type Ids = readonly string[];

interface Find {
  newest(): Promise<Ids>;
  /** Whether there are contacts besides the newest. */
  hasOthers(): Promise<boolean>;
  byIndex(): Promise<Ids>;
  readonly max: number;
}

/** `found` are all matches, in order, or more than `max` of them; `newest` are the first ones, if they are needed. */
const finders: Record<Database["engine"], (find: Find) => Promise<{ found: Ids; newest: Ids }>> = {
  async postgres({ newest: findNewest, hasOthers, byIndex, max }) {
    const newest = await findNewest();
    const isAll = newest.length > max || !(await hasOthers());
    return { found: isAll ? newest : await byIndex(), newest };
  },
  // Each statement costs more than reading the index for one organization.
  async embedded({ newest, byIndex, max }) {
    const found = await byIndex();
    return { found, newest: found.length > max ? await newest() : [] };
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

function selectMatches(db: Queries, search: ContactSearch) {
  return selectContacts(db, search.organization).where(isMatch(search));
}

function isMatch({ words, tag }: ContactSearch) {
  const isTagged = tag === undefined ? [] : [hasTag(tag)];
  return sql<boolean>`${sql.join([containsWords(words), ...isTagged], sql` and `)}`;
}

function isOneOf(ids: readonly string[]) {
  return sql<boolean>`id = any(${ids}::text[])`;
}
