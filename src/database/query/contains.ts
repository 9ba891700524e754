/** Case-insensitive substring search in columns. */
import { type Expression, type SqlBool, sql } from "kysely";

/** Whether one of the columns contains the text. */
export function containsText(text: string, ...columns: readonly string[]): Expression<SqlBool> {
  const pattern = toLikePattern(text);
  return sql<SqlBool>`(${sql.join(
    columns.map((column) => sql`${sql.ref(column)} ilike ${pattern}`),
    sql` or `,
  )})`;
}

/** A `like` pattern for text that contains this text. Escapes `%` and `_` in the text. */
export function toLikePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}
