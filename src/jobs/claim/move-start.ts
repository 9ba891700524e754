/**
 * Moves the start of a job, which counts towards the rate of its lane, from the time of the claim to a later
 * time.
 *
 * The first part of a job, such as an upload, may take seconds, and a process may have been frozen. Then the
 * start would no longer count when the job's request reaches the destination, together with jobs that were
 * claimed later.
 */

import type { Database } from "../../database/database.ts";
import { coalesce } from "../../database/sharing/index.ts";
import { laneOfStored } from "../priority.ts";
import { maxAheadMs, rateWindowMs } from "./pace.ts";

interface Move {
  /** The stored name. */
  readonly lane: string;
  /** The start that has counted so far. */
  readonly from: string;
  readonly to: Date;
}

/**
 * Returns the new start, the earliest that the rate allows. It may be after `to`, and then the job must wait
 * for it. Null if the lane no longer has a rate. No other job of the lane is claimed before the latest
 * returned start.
 */
export const moveStart = coalesce(
  async (database: Database, moves: readonly Move[]): Promise<readonly (string | null)[]> =>
    database.transaction(async (tx) => {
      const lane = laneOfStored(moves[0]?.lane ?? "");
      const row = await tx
        .selectFrom("paced_lanes")
        .select(["rate_per_second", "started_at"])
        .where("lane", "=", lane)
        .forUpdate()
        .executeTakeFirst();
      if (!row) {
        return moves.map(() => null);
      }
      const starts = withoutMoved(row.started_at, moves);
      const moved = moves.map(({ to }) => {
        const start = nextStart(starts, row.rate_per_second, to.getTime());
        starts.push(start);
        return new Date(start).toISOString();
      });
      await tx
        .updateTable("paced_lanes")
        .set({ started_at: starts.map((start) => new Date(start).toISOString()) })
        .where("lane", "=", lane)
        .execute();
      return moved;
    }),
  ({ lane }) => lane,
);

/** The starts of the last second and the reserved starts, in order, without one start for each moved job. */
function withoutMoved(started_at: readonly string[], moves: readonly Move[]): number[] {
  const now = Math.max(...moves.map(({ to }) => to.getTime()));
  const starts = started_at
    .map((start) => Date.parse(start))
    .filter((start) => start > now - rateWindowMs && start < now + maxAheadMs)
    .sort((one, other) => one - other);
  for (const { from } of moves) {
    const place = starts.indexOf(Date.parse(from));
    if (place >= 0) {
      starts.splice(place, 1);
    }
  }
  return starts;
}

/** The earliest time of another start; never before the latest start. */
function nextStart(starts: readonly number[], rate: number, earliest: number): number {
  const former = starts.at(-rate);
  const isFree = former === undefined || starts.length < rate;
  const start = Math.max(earliest, starts.at(-1) ?? 0, isFree ? 0 : former + rateWindowMs);
  // A start that is further ahead would be ignored.
  return Math.min(start, earliest + maxAheadMs - 1);
}
