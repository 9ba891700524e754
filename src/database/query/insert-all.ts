/**
 * Inserts many rows with one statement. The text of the statement does not depend on their number, so it is
 * prepared once.
 */
import { type Insertable, sql } from "kysely";
import type { Queries } from "../database.ts";
import type { Tables } from "../schema/index.ts";

/** All rows must have the same columns. Arrays and objects are passed as values, not as JSON text. */
export async function insertAll<Table extends keyof Tables>(
  queries: Queries,
  table: Table,
  rows: readonly { readonly [Column in keyof Insertable<Tables[Table]>]: unknown }[],
): Promise<void> {
  const [first] = rows;
  if (!first) {
    return;
  }
  const columns = sql.join(Object.keys(first).map((column) => sql.ref(column)));
  await sql`
    insert into ${sql.table(table)} (${columns})
    select ${columns} from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::jsonb)
  `.execute(queries);
}
