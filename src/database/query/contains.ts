/** Finds a text inside another, whatever its letters' case. */
import { type Expression, type SqlBool, sql } from "kysely";

/** Whether any of the columns holds the text. */
export function holds(text: string, ...columns: readonly string[]): Expression<SqlBool> {
  const pattern = patternOf(text);
  return sql<SqlBool>`(${sql.join(
    columns.map((column) => sql`${sql.ref(column)} ilike ${pattern}`),
    sql` or `,
  )})`;
}

/** What `like` compares with to find the text anywhere; `%` and `_` in it are letters. */
export function patternOf(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}
