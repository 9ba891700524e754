/** Measures the clock of the database, and reports when this machine's clock differs. */
import { sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { nullable, rowsOf } from "../../database/query/index.ts";
import type { Log } from "../../ports/telemetry/log.ts";
import { SharedClock } from "../../time/shared-clock.ts";

/** A process's row is recent if its heartbeat is younger, by the database's clock. */
const recent = sql`interval '3 seconds'`;

/**
 * The clock of a process of a PostgreSQL database, measured once. Undefined for the embedded database, which
 * only one process uses.
 *
 * After a step of the database's clock, running processes approach it slowly, so a process that starts
 * meanwhile begins with their time.
 */
export async function openSharedClock({ engine, queries }: Database): Promise<SharedClock | undefined> {
  if (engine === "embedded") {
    return undefined;
  }
  const clock = new SharedClock();
  const sentAt = clock.monotonicMs();
  const { rows } = await rowsOf({ time: "timestamptz", ahead_ms: nullable("double precision") })`
    select clock_timestamp() as time, (
      select extract(epoch from percentile_disc(0.5) within group (order by heartbeat_at - written_at)) * 1000
      from processes where written_at > clock_timestamp() - ${recent}
    )::float8 as ahead_ms
  `.execute(queries);
  const row = rows[0];
  if (row) {
    const receivedAt = clock.monotonicMs();
    clock.observe({ sentAt, receivedAt, time: Date.parse(row.time), othersAheadMs: row.ahead_ms ?? 0 });
  }
  return clock;
}

/** The machine's clock may differ by this much without a warning. */
const toleratedMs = 2_000;

/**
 * Returns a function that warns when the machine's clock begins to differ, and reports when it is correct
 * again.
 */
export function createDifferenceReport(clock: SharedClock, log: Log): () => void {
  let isReported = false;
  return () => {
    const differs = Math.abs(clock.machineAheadMs) > toleratedMs;
    if (differs === isReported) {
      return;
    }
    isReported = differs;
    const facts = { machine_ahead_ms: Math.round(clock.machineAheadMs) };
    if (differs) {
      log.warn(facts, "The clock of this machine differs from the database's, which is used");
    } else {
      log.info(facts, "The clock of this machine agrees with the database's again");
    }
  };
}
