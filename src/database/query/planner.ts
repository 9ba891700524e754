/**
 * Joins of a few rows that the planner of PostgreSQL would otherwise plan as joins of many rows.
 *
 * The planner does not see how many rows a parameter holds: it expects 100 rows of a recordset. For a table
 * it uses the statistics, and until the first ANALYZE these describe an empty table. So the planner may read
 * a whole table, or all rows of an organization, for a handful of keys, and a transaction that keeps its
 * plans keeps this slow plan. With the functions here, the planner can use only the index.
 */
import { type RawBuilder, sql } from "kysely";
import { type Columns, type InputRow, recordset } from "./recordset.ts";

/**
 * The condition of a join: `indexedColumn` equals `recordsetColumn`. `values` are the values of
 * `recordsetColumn`. They are passed as an array too, so that the rows are found by the index, before the
 * join.
 */
export function matchesKey(
  indexedColumn: string,
  recordsetColumn: string,
  values: readonly string[],
): RawBuilder<boolean> {
  const column = sql.ref(indexedColumn);
  // The planner counts repeated values as further searches, and then prefers to read the whole table.
  const distinct = [...new Set(values)];
  return sql<boolean>`(${column} = any(${distinct}::text[]) and ${column} = ${sql.ref(recordsetColumn)})`;
}

/**
 * Ends a lateral query that finds at most one row by its whole key. The limit excludes no row: it keeps the
 * planner from turning the query into a join, which might begin with all rows of the organization.
 */
export const byWholeKey = sql`limit 1`;

/**
 * Like `recordset`, for a join by several columns. The limit gives the planner the number of rows. The limit
 * is a parameter, but the planner knows its value, because each plan is made for the values
 * (`force_custom_plan` in `pool/connection.ts`).
 */
export function countedRecordset<const Declared extends Columns>(
  alias: string,
  columns: Declared,
  rows: readonly InputRow<NoInfer<Declared>>[],
): RawBuilder<unknown> {
  return sql`(select * from ${recordset(alias, columns, rows)} limit ${rows.length}) as ${sql.id(alias)}`;
}
