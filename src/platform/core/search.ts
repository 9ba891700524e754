/** Finds a text inside another, whatever its letters' case. */
import { type Expression, type SqlBool, sql } from "kysely";

/** Whether any of the columns holds the text; `%` and `_` in it are letters. */
export function holds(text: string, ...columns: readonly string[]): Expression<SqlBool> {
  const pattern = `%${text.replace(/[\\%_]/g, "\\$&")}%`;
  return sql<SqlBool>`(${sql.join(
    columns.map((column) => sql`${sql.ref(column)} ilike ${pattern}`),
    sql` or `,
  )})`;
}
