/**
 * The rate of a lane: how many of its jobs may start in any second, in all processes together.
 *
 * The lane's row has the times of its last starts. A claim locks the row, counts the starts of the last
 * second, claims as many jobs as the rate leaves, and adds their times in the same statement. So two claims
 * never use the same second twice, and the jobs that a process had claimed when it died count as started. A
 * row that another transaction has locked is skipped, so no claim waits for it; the next poll, which follows
 * soon, tries again.
 *
 * The row's time never goes back: a process whose clock is behind counts from the latest start.
 *
 * A job may be late: it reaches its destination long after its claim. `moveStart` then records a later start
 * for it, which is in the future if the rate is used up. Until shortly before this start, no other job of the
 * lane is claimed.
 *
 * The starts are spread over the second. A burst arrives stretched, so its end would overlap the burst of the
 * next second. Bulk jobs may use what due normal jobs leave of the rate, except for a fortieth of the rate,
 * which stays free so that a reply starts at once.
 *
 * The starts are counted in SQL, because the lock, the count and the claim are parts of one statement. A poll
 * sends it together with BEGIN and its other statements; counting in the process would cost each poll one
 * more wait, with the row locked.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseTransaction } from "../../database/database.ts";
import type { Priority } from "../job.ts";
import { laneNameOf, storedLane } from "../priority.ts";

/**
 * The time in which at most `rate_per_second` jobs start. It is more than a second, because the time from the
 * claim to the arrival varies by some milliseconds, and the clocks of two machines differ.
 */
export const rateWindowMs = 1_100;
/**
 * A start this far ahead is ignored: the clock was set back, or the clock of the process that recorded it is
 * wrong.
 */
export const maxAheadMs = 10_000;

const ms = (count: number) => sql`interval ${sql.lit(`${count} milliseconds`)}`;
const rateWindow = ms(rateWindowMs);
/** A tenth of a second. Limiting the starts in this time spreads them over the second. */
const burstWindow = ms(100);
const maxAhead = ms(maxAheadMs);
/** Clocks differ by less. So a start that is further ahead belongs to a late job, which waits until then. */
const maxDifference = ms(250);

export async function setPace(
  tx: DatabaseTransaction,
  lane: string,
  ratePerSecond: number | null,
): Promise<void> {
  const name = storedLane(lane, "normal");
  if (ratePerSecond === null) {
    await tx.deleteFrom("paced_lanes").where("lane", "=", name).execute();
    return;
  }
  if (!Number.isInteger(ratePerSecond) || ratePerSecond < 1) {
    throw new RangeError(`A lane cannot have the rate ${ratePerSecond}.`);
  }
  await sql`
    insert into paced_lanes (lane, rate_per_second) values (${name}, ${ratePerSecond})
    on conflict (lane) do update set rate_per_second = excluded.rate_per_second
  `.execute(tx);
}

/**
 * At most `count` jobs of a priority start within `duration`. Both are expressions over a row of
 * `paced_lanes`.
 */
interface Limit {
  readonly count: RawBuilder<unknown>;
  readonly duration: RawBuilder<unknown>;
}

/** The part of the rate that bulk jobs must leave free. */
const reserve = sql`(rate_per_second + 39) / 40`;
/**
 * An eighth of the rate in each burst window: a little more than the tenth that is needed to reach the rate.
 */
const bulkBurst = sql`(rate_per_second + 7) / 8`;

const limits: Readonly<Record<Priority, readonly Limit[]>> = {
  normal: [
    { count: sql`rate_per_second`, duration: rateWindow },
    { count: sql`least(rate_per_second, ${bulkBurst} + ${reserve})`, duration: burstWindow },
  ],
  bulk: [
    { count: sql`greatest(1, rate_per_second - ${reserve})`, duration: rateWindow },
    { count: bulkBurst, duration: burstWindow },
  ],
};

const laneName = laneNameOf(sql`lanes.lane`);
const timestamp = (time: Date) => sql`${time.toISOString()}::timestamptz`;

/** Read once for all lanes: without rates, no lane is looked up. */
const hasRates = sql`(select exists (select from paced_lanes))`;

const hasDueJob = (now: Date) =>
  sql`exists (select from jobs where jobs.lane = lanes.lane and jobs.run_at <= ${now.toISOString()})`;

const latestStart = sql`started_at[cardinality(started_at)]`;

/** The time of the row: the latest start, or now. */
const rowTime = (now: Date) => sql`case
  when ${latestStart} < ${timestamp(now)} + ${maxAhead} then greatest(${latestStart}, ${timestamp(now)})
  else ${timestamp(now)} end`;

/**
 * The time from which other jobs may start again: a little before the start of the late job, because clocks
 * differ.
 */
const awaitsLateJobUntil = sql`${latestStart} - ${maxDifference}`;
const awaitsLateJob = (now: Date) =>
  sql`(${awaitsLateJobUntil} > ${timestamp(now)} and ${awaitsLateJobUntil} < ${timestamp(now)} + ${maxAhead})`;

/**
 * The time at which every limit allows another start, because the earliest of its last `count` starts is
 * `duration` ago. With fewer than `count` starts, the array index is below 1, which gives null: the limit
 * allows a start now. `greatest` ignores null, and is null without any start.
 */
const freeAt = (priority: Priority) => {
  const times = limits[priority].map(
    ({ count, duration }) => sql`started_at[cardinality(started_at) - (${count}) + 1] + ${duration}`,
  );
  return sql`greatest(${sql.join([...times, awaitsLateJobUntil])})`;
};

/**
 * Whether no job may start. Not exact, because the row is not locked, but it saves most locks while the rate
 * is used up.
 */
const isUsedUp = (priority: Priority, now: Date) => sql`(
  ${awaitsLateJob(now)}
  or ${freeAt(priority)} > ${rowTime(now)} and ${freeAt(priority)} < ${timestamp(now)} + ${maxAhead}
)`;

/** How many starts of the locked `row` are in the `duration` before its time. */
const startsWithin = (duration: RawBuilder<unknown>) =>
  sql`(select count(*) from unnest(row.started_at) as start where start > row.time - ${duration} and start <= row.time)`;

/** How many jobs the limits allow now, by the locked `row`. Negative after the rate was lowered. */
const countAllowed = (priority: Priority, now: Date) => {
  const left = limits[priority].map(({ count, duration }) => sql`${count} - ${startsWithin(duration)}`);
  return sql`least(${sql.join(priority === "bulk" ? [...left, leftByNormalJobs(now)] : left)})`;
};

/** How much of the rate the due normal jobs of the lane leave to bulk jobs. */
const leftByNormalJobs = (now: Date) => sql`rate_per_second - ${startsWithin(rateWindow)} - (
  select count(*) from (
    select from jobs where jobs.lane = ${laneName} and jobs.run_at <= ${now.toISOString()} limit row.rate_per_second
  ) as due
)`;

/**
 * How many jobs of the lane may start now; null if it has no rate. The cases, in their order:
 * - Checked without the lock: 0 if no job is due or the rate is used up. Before the first start, `isUsedUp`
 *   is null.
 * - This claim has locked the row: the number that the limits allow, or 0 while a late job waits.
 * - Another transaction has locked the row, so `skip locked` returns none: -1.
 */
export const roomInLane = (priority: Priority, now: Date) => sql`case when ${hasRates} then (
  select case
    when not ${hasDueJob(now)} or ${isUsedUp(priority, now)} is true then 0
    else coalesce((
      select case when ${awaitsLateJob(now)} then 0 else greatest(0, ${countAllowed(priority, now)}) end
      from (
        select rate_per_second, started_at, ${rowTime(now)} as time from paced_lanes
        where paced_lanes.lane = ${laneName} for update skip locked
      ) as row
    ), -1) end
  from paced_lanes where paced_lanes.lane = ${laneName}
) end`;

/**
 * The CTE `started`. It adds the starts of the jobs in the CTE `ready` to the rows of their lanes, and
 * returns their time.
 */
export const recordStarts = (now: Date) => sql`
  started as (
    update paced_lanes set started_at = (
      select array(select start from unnest(row.started_at) as start where start > row.time - ${rateWindow} and start <= row.time)
        || array_fill(row.time, array[claimed_lanes.count])
      from (select paced_lanes.started_at, ${rowTime(now)} as time) as row
    )
    from (
      select ${laneNameOf(sql`ready.lane`)} as lane, count(*)::int as count from ready where id is not null group by 1
    ) as claimed_lanes
    where paced_lanes.lane = claimed_lanes.lane
    returning paced_lanes.lane, started_at[cardinality(started_at)] as at
  )`;

/**
 * The time from which the lane's rate allows another due job of the lane. No row if the lane has no rate or
 * no due job.
 */
export const nextStart = (priority: Priority, now: Date) => sql`
  select ${freeAt(priority)} as at from paced_lanes
  where ${hasRates} and paced_lanes.lane = ${laneName} and ${hasDueJob(now)}`;
