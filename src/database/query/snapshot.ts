/**
 * Reads rows together with the database snapshot in which they were read.
 *
 * A snapshot records which transactions had ended. Rows of other transactions become visible later, however
 * old their ids or times are. One statement must return both the rows and the snapshot, because the next
 * statement has another snapshot.
 */
import { type Expression, type RawBuilder, sql } from "kysely";
import type { Queries } from "../database.ts";

/** PostgreSQL's text form of the current snapshot: `xmin:xmax:running`. */
export async function readSnapshot(db: Queries): Promise<string> {
  const snapshot = sql<string>`pg_current_snapshot()::text`.as("snapshot");
  return (await db.selectNoFrom(snapshot).executeTakeFirstOrThrow()).snapshot;
}

/**
 * The query's rows and the snapshot in which it ran, even if there are no rows. `order` must name columns of
 * the query, because a join does not keep the order of the query.
 */
export async function readWithSnapshot<Row>(
  db: Queries,
  query: Expression<Row>,
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
