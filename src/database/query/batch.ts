/** Updates any number of rows, a batch in each transaction. */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseTransaction } from "../database.ts";
import { rowsOf } from "./rows-of.ts";

const batchSize = 500;

/**
 * Runs updates on the next rows by id. The updates refer to these rows as `batch (id)`.
 * @param ids selects the ids of all rows, and ends with a condition.
 * @param after the result of the previous call; "" for the first call.
 * @returns the last id; undefined at the end.
 */
export async function updateBatch(
  tx: DatabaseTransaction,
  ids: RawBuilder<unknown>,
  { updates, after }: { readonly updates: readonly RawBuilder<unknown>[]; readonly after: string },
): Promise<string | undefined> {
  const steps = updates.map((update, index) => sql`${sql.id(`update_${index}`)} as (${update})`);
  const { rows } = await rowsOf({ id: "text" })`
    with batch as (${ids} and id > ${after} order by id limit ${batchSize}), ${sql.join(steps)}
    select id from batch order by id
  `.execute(tx);
  return rows.at(-1)?.id;
}
