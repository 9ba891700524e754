/**
 * Reads rows together with the database's snapshot in which they were looked for.
 *
 * A snapshot says which transactions had ended: what it doesn't hold comes later, however old its id or its
 * time may be. Only one statement can tell both, since the next one looks in another snapshot.
 */
import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Queries } from "../database.ts";
import type { Tables } from "../schema/index.ts";

/** PostgreSQL's text of what has ended by now: `xmin:xmax:running`. */
export async function readSnapshot(db: Queries): Promise<string> {
  const snapshot = sql<string>`pg_current_snapshot()::text`.as("snapshot");
  return (await db.selectNoFrom(snapshot).executeTakeFirstOrThrow()).snapshot;
}

/**
 * What a query finds, and the very snapshot in which it looked, of nothing too. The order is one of the query's
 * columns: a join keeps none.
 */
export async function readInSnapshot<Table extends keyof Tables, Row>(
  db: Queries,
  query: SelectQueryBuilder<Tables, Table, Row>,
  order: RawBuilder<unknown>,
): Promise<{ rows: Row[]; snapshot: string }> {
  const { rows } = await sql<Row & { snapshot: string; is_found: boolean | null }>`
    select moment.snapshot, found.*
    from (select pg_current_snapshot()::text as snapshot) as moment
    left join lateral (select true as is_found, one.* from ${query} as one) as found on true
    order by ${order}
  `.execute(db);
  const snapshot = rows[0]?.snapshot ?? "";
  return { rows: rows.filter(({ is_found }) => is_found), snapshot };
}
