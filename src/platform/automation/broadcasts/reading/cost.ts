/** Sums what the messages of a broadcast were charged, and what is held for those on their way. */
import { fromMicros } from "../../../../../tools/money.ts";
import type { Database, Queries } from "../../../../database/database.ts";
import { onlyRow, ReadTimeoutError, rowsOf, withTimeLimit } from "../../../../database/query/index.ts";
import type { BroadcastRow } from "../find.ts";

/** More messages make it a slow read. */
const manyMessages = 10_000;

/**
 * Null before the execution and without prices; also if there are so many messages that the read takes too
 * long, because the rest of the broadcast can be shown all the same.
 */
export async function readCost(database: Database, broadcast: BroadcastRow) {
  const { currency, simulated, total } = broadcast;
  if (currency === null) {
    return null;
  }
  try {
    const { charged, held } = await (total > manyMessages
      ? withTimeLimit(database, (db) => sumCharges(db, broadcast), "scan")
      : sumCharges(database.queries, broadcast));
    return { currency, simulated, charged: fromMicros(charged), held: fromMicros(held) };
  } catch (error) {
    if (error instanceof ReadTimeoutError) {
      return null;
    }
    throw error;
  }
}

/** The price of a recipient is held from the execution on, and by its message once there is one. */
async function sumCharges(db: Queries, { organization_id, id }: BroadcastRow) {
  const { rows } = await rowsOf({ charged: "bigint", held: "bigint" })`
    select coalesce(sum(charged), 0)::bigint as charged, coalesce(sum(held), 0)::bigint as held
    from (
      select case charge ->> 'status' when 'settled' then (charge ->> 'price')::bigint end as charged,
        (charge ->> 'held')::bigint as held
      from messages where organization_id = ${organization_id} and broadcast_id = ${id}
      union all
      select null, price from broadcast_recipients
      where organization_id = ${organization_id} and broadcast_id = ${id} and status = 'pending'
    ) as part
  `.execute(db);
  return onlyRow(rows);
}
