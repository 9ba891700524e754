/**
 * The processes that share a database: each writes a heartbeat once a second and reads the heartbeats of the
 * other processes.
 *
 * A process whose heartbeat has stopped is dead: another process deletes its row and makes the jobs due again
 * that it had claimed. If the process was only blocked, its next heartbeat adds the row again, and `claims`
 * prevents it from changing the jobs that were taken over. The heartbeat also carries the use of rate limits.
 *
 * The process of an embedded database is the only one: it writes no heartbeats, and all other processes are
 * dead when it starts.
 */
import { sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { newId } from "../../database/id.ts";
import { nullable, rowsOf, typed } from "../../database/query/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/telemetry/log.ts";
import type { SharedClock } from "../../time/shared-clock.ts";
import { createSignal } from "../signal.ts";
import { createDifferenceReport } from "./measure-clock.ts";
import { createUseExchange, type SharedUse, type UseCounts, unsharedUse } from "./shared-use.ts";

export { countProcesses } from "./count.ts";
export { openSharedClock } from "./measure-clock.ts";
export type { SharedUse };

const beatMs = 1_000;
/** An event loop that is blocked for 2 s writes its next heartbeat 3 s after the last one. */
const deadAfterMs = 3_500;
/**
 * How many heartbeats of this process must find the heartbeat of another process unchanged. Its age alone
 * proves nothing: the clocks of two machines differ, and after an outage of the database every heartbeat is
 * old.
 */
const deadAfterBeats = 3;

export interface ProcessesOptions {
  readonly database: Database;
  readonly now: Clock;
  readonly log: Log;
  /** Whether no other process can use the database at the same time. */
  readonly isAlone: boolean;
  /**
   * The clock behind `now`, which is measured with each heartbeat; undefined if `now` follows no database.
   */
  readonly clock?: SharedClock | undefined;
}

interface ProcessRow {
  readonly id: string;
  readonly heartbeat_at: string;
  readonly use: UseCounts;
}

/** The database's time, and the columns of another process, which are null if there is none. */
const rowColumns = {
  time: "timestamptz",
  id: nullable("text"),
  heartbeat_at: nullable("timestamptz"),
  use: typed<UseCounts | null>("jsonb"),
} as const;

/** The tables that describe running processes, which no backup has. */
export const tablesOfProcesses = ["processes"] as const;

/** Another process, as the last heartbeat read it. */
interface Peer extends ProcessRow {
  readonly unchangedBeats: number;
}

export class Processes {
  readonly id: string;
  readonly sharedUse: SharedUse;
  readonly #options: ProcessesOptions;
  readonly #startedAt: string;
  readonly #exchange: ReturnType<typeof createUseExchange>;
  readonly #stopped = createSignal();
  #peers: ReadonlyMap<string, Peer> = new Map();
  /** The time of the last heartbeat; 0 before the first one. */
  #beatAt = 0;
  #loop: Promise<void> | undefined;
  #isFailing = false;
  /** When the database answered the last heartbeat, by the monotonic clock. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** How long the last heartbeat took. */
  #tookMs = 0;
  #onRelease: () => void = () => undefined;
  readonly #reportDifference: () => void;

  constructor(options: ProcessesOptions) {
    const startedAt = options.now();
    this.id = newId("proc", startedAt);
    this.#options = options;
    this.#startedAt = startedAt.toISOString();
    this.#exchange = createUseExchange(options.now);
    this.sharedUse = options.isAlone ? unsharedUse : this.#exchange;
    const { clock, log } = options;
    this.#reportDifference = clock ? createDifferenceReport(clock, log) : () => undefined;
  }

  /** Whether the last heartbeat was written, quickly and recently; undefined if this process writes none. */
  get isBeating(): boolean | undefined {
    if (!this.#loop) {
      return undefined;
    }
    const ageMs = performance.now() - this.#answeredAt;
    return !this.#isFailing && this.#tookMs < deadAfterMs && ageMs < deadAfterMs;
  }

  /**
   * Whether this process's time can be compared with the time of other processes. While it can't, this
   * process claims no jobs.
   */
  get isClockCurrent(): boolean {
    return this.#options.clock?.isCurrent ?? true;
  }

  /** Sets the function that is called when jobs of a dead process have become due. */
  onRelease(callback: () => void): void {
    this.#onRelease = callback;
  }

  /** Adds this process to the table. Must be called before its first claim. */
  async register(): Promise<void> {
    if (this.#beatAt === 0) {
      await this.beat();
    }
  }

  /**
   * Writes a heartbeat, reads the heartbeats of other processes, and makes the jobs of dead processes due.
   */
  async beat(): Promise<void> {
    const { isAlone, now } = this.#options;
    if (isAlone && this.#beatAt > 0) {
      return;
    }
    const at = now();
    const sentAt = performance.now();
    const others = await this.#exchangeRows(at);
    this.#answeredAt = performance.now();
    this.#tookMs = this.#answeredAt - sentAt;
    // A process that wrote no heartbeats itself can't tell whether another process did.
    const isLate = at.getTime() - this.#beatAt > 2 * beatMs;
    const peers = others.map((row) => this.#observe(row, isLate));
    this.#peers = new Map(peers.map((peer) => [peer.id, peer]));
    this.#beatAt = at.getTime();
    for (const peer of peers) {
      if (isAlone || isDead(peer, at)) {
        await this.#release(peer, at);
      }
    }
  }

  /** Writes heartbeats until `stop`. */
  start(): void {
    if (!this.#options.isAlone) {
      this.#loop ??= this.#run();
    }
  }

  /**
   * Stops the heartbeats. A process that left jobs unfinished stays in the table until another process finds
   * it dead.
   */
  async stop(): Promise<void> {
    this.#stopped.set();
    await this.#loop;
    if (this.#beatAt > 0) {
      await sql`
        delete from processes where id = ${this.id} and not exists (select from jobs where claimed_by = ${this.id})
      `
        .execute(this.#options.database.queries)
        .catch((error: unknown) =>
          this.#options.log.warn({ err: error }, "The row of this process was not deleted"),
        );
    }
  }

  async #run(): Promise<void> {
    let startedAt = performance.now();
    // One second from start to start: a slow database must not make this process seem dead.
    while (!(await this.#stopped.wait(startedAt + beatMs - performance.now()))) {
      startedAt = performance.now();
      try {
        await this.beat();
        if (this.#isFailing) {
          this.#options.log.info({}, "The database answers again: the heartbeat is written");
        }
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) {
          this.#options.log.error({ err: error }, "The heartbeat can't be written and will be retried");
        }
        this.#isFailing = true;
      }
    }
  }

  async #exchangeRows(at: Date): Promise<readonly ProcessRow[]> {
    const { clock, database } = this.#options;
    const use = JSON.stringify(this.#exchange.read());
    const sentAt = clock?.monotonicMs() ?? 0;
    const { rows } = await rowsOf(rowColumns)`
      with beat as (
        insert into processes (id, started_at, heartbeat_at, use)
        values (${this.id}, ${this.#startedAt}, ${at.toISOString()}, ${use}::jsonb)
        on conflict (id) do update
          set heartbeat_at = excluded.heartbeat_at, use = excluded.use, written_at = clock_timestamp()
      )
      select read.time, other.id, other.heartbeat_at, other.use
      from (select clock_timestamp() as time) as read left join processes as other on other.id <> ${this.id}
    `.execute(database.queries);
    if (clock && rows[0]) {
      clock.observe({ sentAt, receivedAt: clock.monotonicMs(), time: Date.parse(rows[0].time) });
      this.#reportDifference();
    }
    return rows.flatMap(({ id, heartbeat_at, use: counts }) =>
      id === null || heartbeat_at === null || counts === null ? [] : [{ id, heartbeat_at, use: counts }],
    );
  }

  /**
   * Reports the use of a process since its last heartbeat. Use before the process was first seen does not
   * count.
   */
  #observe(row: ProcessRow, isLate: boolean): Peer {
    const known = this.#peers.get(row.id);
    this.#exchange.report(known?.use ?? row.use, row.use);
    const isUnchanged = known?.heartbeat_at === row.heartbeat_at && !isLate;
    return { ...row, unchangedBeats: isUnchanged ? known.unchangedBeats + 1 : 0 };
  }

  /**
   * Deletes the row of a dead process and makes its jobs due as of its last heartbeat, so before newer jobs.
   * Does nothing if the process has written a heartbeat since, or another process was faster.
   */
  async #release({ id, heartbeat_at }: Peer, at: Date): Promise<void> {
    const { numAffectedRows } = await sql`
      with dead as (
        delete from processes where id = ${id} and heartbeat_at = ${heartbeat_at} returning id
      )
      update jobs set run_at = least(${heartbeat_at}::timestamptz, ${at.toISOString()}::timestamptz)
      where claimed_by = ${id} and claimed_number = claims and exists (select from dead)
    `.execute(this.#options.database.queries);
    if (numAffectedRows) {
      const facts = { process: id, jobs: Number(numAffectedRows) };
      this.#options.log.warn(facts, "A process died; the jobs that it had claimed are due again");
      this.#onRelease();
    }
  }
}

function isDead({ heartbeat_at, unchangedBeats }: Peer, now: Date): boolean {
  return unchangedBeats >= deadAfterBeats && now.getTime() - Date.parse(heartbeat_at) > deadAfterMs;
}
