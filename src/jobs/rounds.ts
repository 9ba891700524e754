/**
 * The engine's rounds, one transaction each: what has ended is settled, leases that are half over are
 * renewed, what is ready is taken and then started.
 *
 * So all that ends within a few milliseconds is deleted by one statement, and the next job of its key is
 * ready in the same round. If a round fails, what was to be settled waits for the next. A crash before that
 * runs the job again: at least once.
 */
import type { Transaction } from "../database/database.ts";
import { attemptJob, type Surroundings } from "./attempt.ts";
import { InFlight, leaseEnd } from "./in-flight.ts";
import type { JobDefinition } from "./job.ts";
import { Lanes, type Share } from "./lanes.ts";
import {
  type ClaimedJob,
  claimJobs,
  keepToIndexes,
  nextDue,
  renewJobs,
  type Settlement,
  settleJobs,
  unknownNames,
} from "./queue.ts";
import { plantSchedules } from "./schedule.ts";

export interface RoundsOptions extends Omit<Surroundings, "strain"> {
  readonly definitions: ReadonlyMap<string, JobDefinition>;
  readonly concurrency: number;
  /** The longest pause that a round asks for. */
  readonly pollMs: number;
  /** Told whenever a job has ended. */
  readonly onEnd: () => void;
}

/** What a round came to. */
export interface Round {
  readonly taken: number;
  /** Every lane was asked, and none has more that may be taken now. */
  readonly isDry: boolean;
  /** How long the next round may wait, unless something happens. */
  readonly pauseMs: number;
}

/** What a round's transaction brought. */
interface Haul {
  readonly jobs: readonly ClaimedJob[];
  readonly isDry: boolean;
  /** The lane to go on behind, if that has changed; "" to begin anew. */
  readonly after?: string;
  readonly due?: Date | undefined;
}

const nothing: Haul = { jobs: [], isDry: false };

export class Rounds {
  readonly #options: RoundsOptions;
  readonly #inFlight = new InFlight();
  readonly #lanes: Lanes;
  readonly #ended: Settlement[] = [];
  /** The lane served last: when one round can't serve all, the next goes on behind it. */
  #after = "";
  #isPrepared = false;

  constructor(options: RoundsOptions) {
    this.#options = options;
    this.#lanes = new Lanes(options.concurrency);
  }

  /** Nothing runs, and nothing is left to be settled. */
  get isIdle(): boolean {
    return this.#inFlight.size + this.#ended.length === 0;
  }

  /** Without `takes`, what runs is renewed and settled, and nothing is begun. */
  async next({ takes }: { readonly takes: boolean }): Promise<Round> {
    await this.#prepare();
    const now = this.#options.now();
    const share = this.#lanes.share(now);
    const limit = takes ? share.limit : 0;
    const { jobs, isDry, after, due } = await this.#transact(now, { ...share, limit });
    this.#after = after ?? this.#after;
    for (const job of jobs) {
      void this.#run(job, now);
    }
    const hasMore = limit > 0 && !isDry;
    return { taken: jobs.length, isDry, pauseMs: hasMore ? 0 : this.#pause(now, due) };
  }

  /** Adds the scheduled rows, and tells what is in the table that this version can't run: a newer one may. */
  async #prepare(): Promise<void> {
    if (this.#isPrepared) {
      return;
    }
    const { database, definitions, log, now } = this.#options;
    await plantSchedules(database.queries, [...definitions.values()], now());
    const names = await unknownNames(database.queries, [...definitions.keys()]);
    if (names.length > 0) {
      log.warn({ names }, "Jobs of these names are left alone: this version does not know them");
    }
    this.#isPrepared = true;
  }

  async #transact(now: Date, share: Share): Promise<Haul> {
    const ended = this.#ended.splice(0);
    const renewals = this.#inFlight.renewals(now);
    if (ended.length + renewals.length + share.limit === 0) {
      return nothing;
    }
    try {
      const haul = await this.#options.database.transaction(async (tx) => {
        await keepToIndexes(tx);
        await settleJobs(tx, ended);
        await renewJobs(tx, renewals);
        return share.limit > 0 ? this.#take(tx, now, share) : nothing;
      });
      this.#inFlight.renewed(now);
      return haul;
    } catch (error) {
      this.#ended.unshift(...ended);
      throw error;
    }
  }

  async #take(tx: Transaction, now: Date, share: Share): Promise<Haul> {
    const leases = [...this.#options.definitions.values()].map((one) => [
      one.name,
      leaseEnd(one, now).toISOString(),
    ]);
    const { ids, keys } = this.#inFlight;
    const after = this.#after;
    const jobs = await claimJobs(tx, { ...share, now, after, leases: Object.fromEntries(leases), ids, keys });
    const isLastLane = jobs.length < share.limit;
    const isDry = isLastLane && after === "";
    return {
      jobs,
      isDry,
      after: isLastLane ? "" : (jobs.at(-1)?.lane ?? ""),
      due: isDry ? await nextDue(tx, now) : undefined,
    };
  }

  async #run(job: ClaimedJob, now: Date): Promise<void> {
    const definition = this.#options.definitions.get(job.name);
    if (!definition) {
      return;
    }
    this.#inFlight.add(job, definition, now);
    const end = this.#lanes.begin(job.lane);
    let isStrained = false;
    const strain = () => {
      isStrained = true;
    };
    const settlement = await attemptJob({ ...this.#options, strain }, definition, job);
    this.#inFlight.remove(job);
    end({ isStrained, now: this.#options.now() });
    if (settlement) {
      this.#ended.push(settlement);
    }
    this.#options.onEnd();
  }

  /** Until a job is due, a lane has rested or a lease is to be renewed; something may come from elsewhere, so not for long. */
  #pause(now: Date, due?: Date): number {
    const soonest = Math.min(this.#lanes.restEnd(now), this.#inFlight.renewAt);
    const time = Math.min(due?.getTime() ?? Number.POSITIVE_INFINITY, soonest);
    return Math.max(0, Math.min(time - now.getTime(), this.#options.pollMs));
  }
}
