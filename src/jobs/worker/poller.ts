/**
 * Polls the table for jobs of one priority. Each poll is one transaction, which settles jobs that have ended,
 * renews leases that are half over, and claims due jobs. The claimed jobs start after the commit.
 *
 * All jobs that end within a few milliseconds are deleted by one statement, and the next job of their keys
 * can be claimed in the same transaction. If a poll fails, the settlements wait for the next poll. After a
 * crash in between, the jobs run again: at least once.
 */
import type { DatabaseTransaction } from "../../database/database.ts";
import { together } from "../../database/transaction.ts";
import { type ClaimedJob, claimJobs, nextDueAt } from "../claim/index.ts";
import type { JobDefinition, Priority } from "../job.ts";
import { type Capacity, Lanes } from "../lanes.ts";
import { rangeOf } from "../priority.ts";
import type { Processes } from "../processes/index.ts";
import { renewLeases, type Settlement, settleJobs } from "../settle.ts";
import { type AttemptContext, attemptJob } from "./attempt.ts";
import { Leases, leaseEnd } from "./leases.ts";

export interface PollerOptions extends Omit<AttemptContext, "backOff" | "requireClock"> {
  readonly priority: Priority;
  readonly definitions: ReadonlyMap<string, JobDefinition>;
  /** If undefined, this process writes no heartbeat, so its claims last until their leases end. */
  readonly processes: Processes | undefined;
  readonly concurrency: number;
  /** The longest wait between two polls. */
  readonly pollMs: number;
  /** Called before each poll; does its work only once. */
  readonly prepare: () => Promise<void>;
  /** Called whenever a job has ended. */
  readonly onEnd: () => void;
}

export interface PollResult {
  readonly claimed: number;
  /** Every lane was read, and no lane has further jobs that can be claimed now. */
  readonly isDrained: boolean;
  /** Whether a lane has no free slot, so that more of its jobs may be due. */
  readonly hasFullLane: boolean;
  /** How long to wait for the next poll unless woken. */
  readonly waitMs: number;
}

interface ClaimedBatch {
  readonly jobs: readonly ClaimedJob[];
  readonly isDrained: boolean;
  /** The lane after which the next claim starts, if it has changed. */
  readonly after?: string;
  readonly dueAt?: Date | undefined;
}

/** How long to wait if another process's claim holds the rate of a lane. */
const contendedMs = 10;

const noJobs: ClaimedBatch = { jobs: [], isDrained: false };

export class Poller {
  readonly #options: PollerOptions;
  readonly #leases = new Leases();
  readonly #lanes: Lanes;
  readonly #settlements: Settlement[] = [];
  /** The last lane served. If a poll can't serve all lanes, the next poll continues after this lane. */
  #after: string;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#after = rangeOf(options.priority).after;
    this.#lanes = new Lanes(options.concurrency);
  }

  /** Whether nothing runs and every settlement is committed. */
  get isIdle(): boolean {
    return this.#leases.size + this.#settlements.length === 0;
  }

  /** With `canClaim` false, running jobs are renewed and settled, and no new ones start. */
  async poll({ canClaim }: { readonly canClaim: boolean }): Promise<PollResult> {
    await this.#options.prepare();
    const now = this.#options.now();
    const capacity = this.#lanes.capacity(now);
    const limit = canClaim && this.#isClockCurrent() ? capacity.limit : 0;
    const { jobs, isDrained, after, dueAt } = await this.#transact(now, { ...capacity, limit });
    this.#after = after ?? this.#after;
    for (const job of jobs) {
      void this.#run(job, now);
    }
    const hasMore = limit > 0 && !isDrained;
    const waitMs = hasMore ? 0 : this.#waitMs(this.#options.now(), dueAt);
    return { claimed: jobs.length, isDrained, hasFullLane: this.#lanes.hasFull, waitMs };
  }

  /**
   * Whether the clock is current. If it is not, the leases of other processes may only seem to have ended.
   */
  #isClockCurrent(): boolean {
    return this.#options.processes?.isClockCurrent ?? true;
  }

  async #transact(now: Date, capacity: Capacity): Promise<ClaimedBatch> {
    const settlements = this.#settlements.splice(0);
    const renewals = this.#leases.renewals(now);
    if (settlements.length + renewals.length + capacity.limit === 0) {
      return noJobs;
    }
    try {
      const [, , claimed] = await this.#options.database.transaction(
        (tx) =>
          together(
            settleJobs(tx, settlements),
            renewLeases(tx, renewals),
            capacity.limit > 0 ? this.#claim(tx, capacity) : noJobs,
          ),
        { keepsPlans: true },
      );
      this.#leases.markRenewed(now);
      return claimed;
    } catch (error) {
      this.#settlements.unshift(...settlements);
      throw error;
    }
  }

  async #claim(tx: DatabaseTransaction, capacity: Capacity): Promise<ClaimedBatch> {
    const { priority, processes } = this.#options;
    // Not the time when the poll began: the wait for the connection would count as part of the second in
    // which jobs start.
    const now = this.#options.now();
    const definitions = [...this.#options.definitions.values()];
    const leases = definitions.map((definition) => [
      definition.name,
      leaseEnd(definition, now).toISOString(),
    ]);
    const { ids, keys } = this.#leases;
    const runWhileSuspended = definitions.flatMap(({ name, runsWhileSuspended }) =>
      runsWhileSuspended ? name : [],
    );
    const after = this.#after;
    const { jobs, isContended } = await claimJobs(tx, {
      ...capacity,
      now,
      priority,
      after,
      leases: Object.fromEntries(leases),
      ids,
      keys,
      runWhileSuspended,
      process: processes?.id ?? null,
    });
    const first = rangeOf(priority).after;
    const isLastLane = jobs.length < capacity.limit;
    const isDrained = isLastLane && after === first;
    return {
      jobs,
      isDrained,
      after: isLastLane ? first : (jobs.at(-1)?.lane ?? first),
      dueAt: isDrained ? await this.#nextDueAt(tx, now, isContended) : undefined,
    };
  }

  async #nextDueAt(tx: DatabaseTransaction, now: Date, isContended: boolean): Promise<Date | undefined> {
    return isContended
      ? new Date(now.getTime() + contendedMs)
      : nextDueAt(tx, this.#options.priority, { now, isScheduled: true });
  }

  async #run(job: ClaimedJob, now: Date): Promise<void> {
    const definition = this.#options.definitions.get(job.name);
    if (!definition) {
      return;
    }
    this.#leases.add(job, definition, now);
    const { lane, organization_id: organization } = job;
    const { slots = 1, yieldsAfterMs = Number.POSITIVE_INFINITY } = definition;
    const end = this.#lanes.start({ lane, organization, slots, yieldsAt: now.getTime() + yieldsAfterMs });
    let mustBackOff = false;
    const backOff = () => {
      mustBackOff = true;
    };
    const requireClock = () => {
      if (!this.#isClockCurrent()) {
        throw new Error("The clock of this process was not compared with the database's for too long.");
      }
    };
    const settlement = await attemptJob({ ...this.#options, backOff, requireClock }, definition, job);
    this.#leases.remove(job);
    end({ mustBackOff, now: this.#options.now() });
    if (settlement) {
      this.#settlements.push(settlement);
    }
    this.#options.onEnd();
  }

  /**
   * The time until a job is due, a lane resumes or a lease must be renewed; at most `pollMs`, because other
   * processes add jobs.
   */
  #waitMs(now: Date, dueAt?: Date): number {
    const soonest = Math.min(this.#lanes.resumesAt(now), this.#leases.renewAt);
    const time = Math.min(dueAt?.getTime() ?? Number.POSITIVE_INFINITY, soonest);
    return Math.max(0, Math.min(time - now.getTime(), this.#options.pollMs));
  }
}
