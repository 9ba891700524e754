/**
 * Moves the start of a job that counts against the rate of its lane from the claim to a later time.
 *
 * What a job does first, such as an upload, may take seconds. Its start would not count any more when it reaches the
 * destination, together with jobs that were claimed later.
 */
import { sql } from "kysely";
import { coalesce } from "../../database/coalesce.ts";
import type { Database } from "../../database/database.ts";
import { laneNameOf } from "../priority.ts";
import { rowTime, second } from "./pace.ts";

interface Move {
  /** As it is stored. */
  readonly lane: string;
  /** The start that counts until now. */
  readonly from: string;
  readonly to: Date;
}

/**
 * Returns the new start; null if the lane has no rate any more. A job is never held back: one that started late enough for
 * its former start not to count any more may exceed the rate, and those that are claimed next wait for it.
 */
export const moveStart = coalesce(
  async (database: Database, moves: readonly Move[]): Promise<readonly (string | null)[]> => {
    const at = await moveStarts(database, moves);
    return moves.map(() => at);
  },
  ({ lane }) => lane,
);

async function moveStarts({ queries }: Database, moves: readonly Move[]): Promise<string | null> {
  const latest = new Date(Math.max(...moves.map(({ to }) => to.getTime())));
  const lane = laneNameOf(sql`${moves[0]?.lane}::text`);
  const { rows } = await sql<{ readonly at: string }>`
    with row as (
      select started_at, ${rowTime(latest)} as time from paced_lanes where lane = ${lane} for update
    ),
    former as (
      select start, count(*) as count from unnest(${moves.map(({ from }) => from)}::timestamptz[]) as start group by 1
    ),
    numbered as (
      select start, row_number() over (partition by start) as number from row cross join unnest(row.started_at) as start
      where start > row.time - ${second} and start <= row.time
    ),
    kept as (
      select start from numbered left join former using (start) where number > coalesce(former.count, 0)
    )
    update paced_lanes
    set started_at = array(select start from kept order by start) || array_fill(row.time, array[${moves.length}::int])
    from row where lane = ${lane}
    returning row.time as at
  `.execute(queries);
  return rows[0]?.at ?? null;
}
