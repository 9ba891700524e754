/**
 * Deletes rows that are older than a time, a batch in each statement, so that no statement holds locks for
 * long.
 */
import { sql } from "kysely";
import type { Queries } from "../database.ts";
import type { Tables } from "../schema/index.ts";

/** Large, because each statement has to skip the rows that earlier statements deleted. */
const batchSize = 5_000;

/** Deletes rows in which the column's value is earlier. Rows without a value are kept. */
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
