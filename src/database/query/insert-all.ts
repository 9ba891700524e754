/** Writes many rows in one statement, whose text is the same however many they are: so it is planned once. */
import { type Insertable, sql } from "kysely";
import type { Queries } from "../database.ts";
import type { Tables } from "../schema/index.ts";

/** All with the same columns; lists and objects as they are, not as JSON's text. */
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
