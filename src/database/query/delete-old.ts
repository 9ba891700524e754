/** Deletes the rows that are older than a time, some in each statement, so that none holds locks for long. */
import { sql } from "kysely";
import type { Queries } from "../database.ts";
import type { Tables } from "../schema/index.ts";

/** Each statement passes the dead rows of those before it, so that small batches would take much longer. */
const batchSize = 5_000;

/** The column's value must be earlier; rows without one are kept. */
export async function deleteOld(
  db: Queries,
  { table, column, before }: { readonly table: keyof Tables; readonly column: string; readonly before: Date },
): Promise<void> {
  let deleted: bigint | undefined;
  do {
    const old = sql`select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${before.toISOString()}`;
    const result = await sql`
      delete from ${sql.table(table)} where ctid = any(array(${old} limit ${batchSize}))
    `.execute(db);
    deleted = result.numAffectedRows;
  } while (deleted === BigInt(batchSize));
}
