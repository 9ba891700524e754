/** The words of a query for full-text search, their weights, and the SQL that compares them with rows. */
import { type RawBuilder, sql } from "kysely";
import type { Queries } from "../../../../database/database.ts";
import { rowsOf } from "../../../../database/query/index.ts";

/** A word of the query: in its own form, and as its English stem. */
export interface Term {
  readonly plain: string;
  readonly stem: string;
  /** How many passages and how many QA pairs have the word. Each of the two counts stops at `countLimit`. */
  readonly rows: number;
  /** The weight of the word, as in BM25: the fewer rows have the word, the larger. */
  readonly weight: number;
}

/** More words hardly improve the search, and each takes time. */
const maxTerms = 40;

/** A word that more rows have is of little use, and reading all the rows takes time. */
const countLimit = 500;

/** The words of a text without English stop words. */
export async function readTerms(db: Queries, organization: string, text: string): Promise<readonly Term[]> {
  const { rows: words } = await rowsOf({ plain: "text", stem: "text" })`
    select lexeme as plain, coalesce(stems[1], lexeme) as stem
    from unnest(to_tsvector('simple', ${text})) as word, ts_lexize('english_stem', lexeme) as stems
    where coalesce(cardinality(stems), 1) > 0
    order by positions[1]
    limit ${maxTerms}
  `.execute(db);
  const { rows: counts } = await rowsOf({ rows: "integer", total: "integer" })`
    with ${names(organization)}, total as (
      select (select coalesce(sum(chunk_count), 0) from names)
        + (select count(*) from knowledge_qa_pairs where organization_id = ${organization}) as rows
    )
    select total.rows::integer as total, greatest(
      ${countRows(sql`knowledge_chunks`, organization)} + ${countRows(sql`knowledge_qa_pairs`, organization)},
      -- A word in a document's name counts for each of its passages.
      (select coalesce(sum(chunk_count), 0) from names where names.words @@ term.query)
    )::integer as rows
    from total, ${termTable(words)}
    order by term.number
  `.execute(db);
  return words.map((word, index) => {
    const { rows = 0, total = 0 } = counts[index] ?? {};
    return { ...word, rows, weight: Math.log(1 + (Math.max(total, rows) - rows + 0.5) / (rows + 0.5)) };
  });
}

function countRows(table: RawBuilder<unknown>, organization: string): RawBuilder<number> {
  return sql`(select count(*) from (
    select from ${table} as counted
    where counted.organization_id = ${organization} and counted.words @@ (${tenant(organization)} && term.query)
    limit ${countLimit}
  ) as counted_rows)`;
}

/**
 * A common table expression: the documents that searches find, with the words of their names or file names.
 */
export function names(organization: string): RawBuilder<unknown> {
  return sql`names as (
    select id, chunk_count, name_words as words
    from knowledge_documents where organization_id = ${organization} and generation is not null
  )`;
}

/** The terms as a table `term`: a number, a query, a weight, and whether the term is rare. */
export function termTable(
  terms: readonly (Pick<Term, "plain" | "stem"> & Partial<Term>)[],
): RawBuilder<unknown> {
  const rows = terms.map(({ plain, stem, weight = 0, rows: count = 0 }) => ({
    query: `${quote(plain)} | ${quote(stem)}`,
    weight,
    is_rare: count < countLimit,
  }));
  return sql`(
    select number, listed.item ->> 'query' as text, (listed.item ->> 'query')::tsquery as query,
      (listed.item ->> 'weight')::float8 as weight, (listed.item ->> 'is_rare')::boolean as is_rare
    from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) with ordinality as listed (item, number)
  ) as term`;
}

/** How many candidates are compared with all terms. */
const maxCandidates = 100;

/**
 * Common table expressions: `term`, and `candidate`, the keys of the rows that have most of the rare terms. A
 * row that has only common terms is no candidate, unless all terms are common or the row has all terms.
 */
export function candidateTables(
  table: RawBuilder<unknown>,
  organization: string,
  { terms, key }: { readonly terms: readonly Term[]; readonly key: readonly string[] },
): RawBuilder<unknown> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const matching = (query: RawBuilder<unknown>) => sql`
    select ${columns} from ${table} as matching
    where matching.organization_id = ${organization} and matching.words @@ (${tenant(organization)} && ${query})
    limit ${countLimit}`;
  const all = terms.map(({ plain, stem }) => `(${quote(plain)} | ${quote(stem)})`).join(" & ");
  const searched = terms.some(({ rows }) => rows < countLimit) ? sql`term.is_rare` : sql`true`;
  return sql`
    term as materialized (select * from ${termTable(terms)}),
    candidate as materialized (
      select ${columns} from (
        select ${columns}, term.weight from term cross join lateral (${matching(sql`term.query`)}) as found
        where ${searched}
        union all
        select ${columns}, 1e9 from (${matching(sql`${all}::tsquery`)}) as complete
      ) as found
      group by ${columns}
      order by sum(weight) desc, ${columns}
      limit ${maxCandidates}
    )`;
}

/** The condition with which the index finds only rows of one organization. */
export function tenant(organization: string): RawBuilder<unknown> {
  return sql`${quote(organization)}::tsquery`;
}

/** Quotes a word for a full-text query. */
function quote(word: string): string {
  return `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/**
 * The rank of a row for a term: 0.6 for one occurrence in the text, up to 1 for more occurrences or one in a
 * heading. Longer rows have no disadvantage, because chunks have about the same size.
 */
export function rank(words: string, query: string): RawBuilder<number> {
  // The weights of the labels D, C, B and A: text or answer, unused, headings, question.
  return sql<number>`ts_rank('{0.6, 0.6, 1.0, 1.0}', ${sql.ref(words)}, ${sql.ref(query)})`;
}
