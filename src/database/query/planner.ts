/**
 * Joins of a few rows that the planner of PostgreSQL would otherwise plan as joins of many.
 *
 * It does not see how many rows a parameter holds: it expects 100 of a recordset, and of a table what its statistics say,
 * which are those of an empty table until the first ANALYZE. So it may read a whole table, or all rows of an organization,
 * for a handful of keys, and a transaction that keeps its plans keeps that one. The functions here leave it the index alone.
 */
import { type RawBuilder, sql } from "kysely";
import { type Columns, type InputRow, recordset } from "./recordset.ts";

/**
 * The condition that `column`, which has an index, is one of the keys and is `key`, the column of a recordset that has them.
 * The keys are given twice: the array is what the index is searched for, before the join.
 */
export function matchesKey(column: string, key: string, keys: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(column)} = any(${keys}::text[]) and ${sql.ref(column)} = ${sql.ref(key)})`;
}

/**
 * Ends a lateral query that finds at most one row by its whole key. The limit excludes nothing: it keeps the planner from
 * making a join of the query, which it might start with all rows of the organization.
 */
export const byWholeKey = sql`limit 1`;

/** As `recordset`, for a join by several columns: a limit tells the planner how few rows there are. */
export function countedRecordset<const Declared extends Columns>(
  alias: string,
  columns: Declared,
  rows: readonly InputRow<NoInfer<Declared>>[],
): RawBuilder<unknown> {
  return sql`(select * from ${recordset(alias, columns, rows)} limit ${rows.length}) as ${sql.id(alias)}`;
}
