/** Searches every column of every table for personal data. */
import { sql } from "kysely";
import type { Queries } from "../../src/database/database.ts";

/** The tables and columns that contain any of these words, except those of the simulated phone. */
export async function findColumns(queries: Queries, words: readonly string[]): Promise<string[]> {
  const like = words.map((word) => `%${word}%`);
  const tables = (await queries.introspection.getTables()).filter(
    ({ name }) => !name.startsWith("simulator_"),
  );
  const isFound = ({ table, column }: Column) => sql`
    select ${`${table}.${column}`}::text as found where exists (
      select from ${sql.table(table)} where ${sql.ref(column)}::text ilike any((select list from words)::text[])
    )`;
  const columns = tables.flatMap(({ name: table, columns }) =>
    columns.map(({ name: column }): Column => ({ table, column })),
  );
  // One statement: there are five hundred columns.
  const { rows } = await sql<{ found: string }>`
    with words (list) as (values (${like}::text[])) ${sql.join(columns.map(isFound), sql` union all `)}
  `.execute(queries);
  return rows.map(({ found }) => found).sort();
}

interface Column {
  readonly table: string;
  readonly column: string;
}
