/** The words of a query for full text, and the SQL that compares them with a table. */
import { type RawBuilder, sql } from "kysely";
import type { Queries } from "../../../database/database.ts";

/** A word of the query: as it is, and by its English stem. */
export interface Term {
  readonly plain: string;
  readonly stem: string;
}

/** More words say no more about what is looked for, and each takes time. */
const maxTerms = 40;

/** The words of a text without those that English has in every sentence. */
export async function readTerms(db: Queries, text: string): Promise<readonly Term[]> {
  const { rows } = await sql<Term>`
    select lexeme as plain, coalesce(stems[1], lexeme) as stem
    from unnest(to_tsvector('simple', ${text})) as word, ts_lexize('english_stem', lexeme) as stems
    where coalesce(cardinality(stems), 1) > 0
    order by positions[1]
    limit ${maxTerms}
  `.execute(db);
  return rows;
}

/**
 * Common table expressions for rows that hold any of the terms. `term` has a number, a query and a weight for each, by
 * how few of the rows hold it, as BM25 has it; `weights` has the sum.
 */
export function termTables(
  table: "knowledge_chunks" | "knowledge_qa_pairs",
  organization: string,
  terms: readonly Term[],
): RawBuilder<unknown> {
  const queries = terms.map(({ plain, stem }) => `${quote(plain)} | ${quote(stem)}`);
  const rows = sql.table(table);
  return sql`
    total as (select count(*) as rows from ${rows} where organization_id = ${organization}),
    found as (
      select number, text::tsquery as query, (
        select count(*) from ${rows}
        where organization_id = ${organization} and words @@ (${tenant(organization)} && text::tsquery)
      ) as rows
      from unnest(${queries}::text[]) with ordinality as listed (text, number)
    ),
    term as (
      select number, query, ln(1 + (greatest(total.rows, found.rows) - found.rows + 0.5) / (found.rows + 0.5)) as weight
      from found, total
    ),
    weights as (select sum(weight) as weight from term)`;
}

/** The condition that makes the index find the rows of one organization alone. */
export function tenant(organization: string): RawBuilder<unknown> {
  return sql`${quote(organization)}::tsquery`;
}

/** A word in the syntax of a query of full text. */
function quote(word: string): string {
  return `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/**
 * How much a row has of a term: 0.6 for once in the text, up to 1 for more often or in a heading. Longer rows have no
 * disadvantage, because chunks are of about one size.
 */
export function rank(words: string, query: string): RawBuilder<number> {
  // The weights of D, C, B and A: text or answer, unused, headings, question.
  return sql<number>`ts_rank('{0.6, 0.6, 1.0, 1.0}', ${sql.ref(words)}, ${sql.ref(query)})`;
}
