/**
 * How many jobs of each lane may run at once in this process, so that no lane delays another.
 *
 * There are slots for four lanes at full concurrency. The last quarter of the slots is reserved for lanes
 * without running jobs, one job each, so a lane whose jobs all hang does not delay other lanes. It is also
 * reserved for organizations with few running jobs: an organization may have a hundred lanes, and all of them
 * may hang.
 *
 * Each lane has an adaptive limit: every job that ends normally raises the limit by one, and a job that asks
 * to back off halves it. At a limit of one, backing off pauses the lane, longer each time. So a failing
 * destination is retried now and then and takes few slots.
 *
 * A job that only waits for a third party may yield its slots after a while, so that a few hanging requests
 * do not delay the lane's other jobs. At most `concurrency` slots of a lane may be yielded, and four times as
 * many in all lanes together.
 */

/** How many jobs may be claimed now. */
export interface Capacity {
  /** In all lanes together. */
  readonly limit: number;
  /** In a lane that `freeByLane` does not contain. */
  readonly perLane: number;
  readonly freeByLane: Readonly<Record<string, number>>;
  /** Organizations whose jobs may not be claimed. */
  readonly fullOrganizations: readonly string[];
}

/** A job that starts. */
export interface StartingJob {
  readonly lane: string;
  /** Null for a job of the service itself. */
  readonly organization: string | null;
  /** The slots that the job takes. */
  readonly slots: number;
  /** When the job yields its slots, in ms since the epoch; default never. */
  readonly yieldsAt?: number;
}

interface RunningJob {
  readonly lane: Lane;
  readonly organization: string | null;
  readonly slots: number;
  readonly yieldsAt: number;
  hasYielded: boolean;
}

interface Lane {
  /** The slots in use; `limit` also counts slots. */
  running: number;
  /** The slots that the lane's running jobs have yielded. */
  yielded: number;
  limit: number;
  /** The slots of the lane's last job: all jobs of a lane are of one kind. */
  slotsPerJob: number;
  /**
   * How often the lane has backed off. Of jobs that ran side by side and report the same failure, only the
   * first one that asks to back off counts.
   */
  backOffs: number;
  endedAt: number;
  backedOffAt: number;
  /** The pause since `backedOffAt`; 0 while the lane is not paused. */
  pauseMs: number;
}

const initialPauseMs = 100;
/** The longest pause, and so the delay until a recovered destination is noticed. */
const maxPauseMs = 5_000;
/**
 * How long the limit of an idle lane is kept. The limit of a healthy lane is kept too: when jobs end
 * together, the lane has no running job for a moment, however long its backlog is.
 */
const idleLaneMs = { healthy: 1_000, failing: 60_000 };

export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  /** The slots in use by each organization. */
  readonly #runningByOrganization = new Map<string, number>();
  /** The running jobs that may yield their slots and have not done so, in the order of their starts. */
  readonly #yielding = new Set<RunningJob>();
  #yielded = 0;
  readonly #maxLimit: number;
  readonly #initialLimit: number;

  constructor(concurrency: number) {
    this.#maxLimit = concurrency;
    this.#initialLimit = Math.ceil(concurrency / 4);
  }

  /** Whether a lane that is not backing off has no slot left for another job. */
  get hasFull(): boolean {
    return [...this.#lanes.values()].some(
      ({ limit, running, slotsPerJob }) => limit >= this.#initialLimit && running + slotsPerJob > limit,
    );
  }

  /** When the first paused lane resumes; infinity if no lane is paused. */
  resumesAt(now: Date): number {
    const paused = [...this.#lanes.values()].filter((lane) => isPaused(lane, now));
    return Math.min(...paused.map(({ backedOffAt, pauseMs }) => backedOffAt + pauseMs));
  }

  capacity(now: Date): Capacity {
    this.#removeIdle(now);
    this.#yield(now);
    const running = [...this.#lanes.values()].reduce((sum, lane) => sum + lane.running, 0);
    const free = 4 * this.#maxLimit - running;
    const isReserve = free <= this.#maxLimit;
    const freeIn = (lane: Lane) => {
      const limit = isPaused(lane, now) ? 0 : isReserve ? 1 : lane.limit;
      return Math.floor(Math.max(0, limit - lane.running) / lane.slotsPerJob);
    };
    const isFull = ([, count]: [string, number]) => isReserve && count >= this.#initialLimit;
    return {
      // Taken one by one from the reserve, because several jobs of one claim may be of the same organization.
      limit: Math.floor(isReserve ? Math.min(free, 1) : free - this.#maxLimit),
      perLane: isReserve ? 1 : this.#initialLimit,
      freeByLane: Object.fromEntries([...this.#lanes].map(([name, lane]) => [name, freeIn(lane)])),
      fullOrganizations: [...this.#runningByOrganization].filter(isFull).map(([id]) => id),
    };
  }

  /** Counts a job that starts. Call the returned function when the job ends. */
  start({
    lane: name,
    organization,
    slots,
    yieldsAt = Number.POSITIVE_INFINITY,
  }: StartingJob): (result: { readonly mustBackOff: boolean; readonly now: Date }) => void {
    const lane = this.#lanes.get(name) ?? createLane(this.#initialLimit);
    lane.running += slots;
    lane.slotsPerJob = slots;
    this.#lanes.set(name, lane);
    this.#count(organization, slots);
    const job = { lane, organization, slots, yieldsAt, hasYielded: false };
    if (yieldsAt < Number.POSITIVE_INFINITY) {
      this.#yielding.add(job);
    }
    const { backOffs } = lane;
    return ({ mustBackOff, now }) => {
      this.#end(job);
      lane.endedAt = now.getTime();
      if (!mustBackOff) {
        lane.limit = Math.min(lane.limit + 1, this.#maxLimit);
        lane.pauseMs = 0;
      } else if (backOffs === lane.backOffs) {
        backOff(lane, now);
      }
    };
  }

  #yield(now: Date): void {
    for (const job of this.#yielding) {
      const { lane, slots, organization, yieldsAt } = job;
      if (yieldsAt > now.getTime()) {
        return;
      }
      if (lane.yielded + slots <= this.#maxLimit && this.#yielded + slots <= 4 * this.#maxLimit) {
        this.#yielding.delete(job);
        job.hasYielded = true;
        lane.yielded += slots;
        this.#yielded += slots;
        lane.running -= slots;
        this.#count(organization, -slots);
      }
    }
  }

  #end(job: RunningJob): void {
    const { lane, slots, organization, hasYielded } = job;
    if (hasYielded) {
      lane.yielded -= slots;
      this.#yielded -= slots;
      return;
    }
    this.#yielding.delete(job);
    lane.running -= slots;
    this.#count(organization, -slots);
  }

  #count(organization: string | null, change: number): void {
    if (organization === null) {
      return;
    }
    const running = (this.#runningByOrganization.get(organization) ?? 0) + change;
    this.#runningByOrganization.set(organization, running);
    if (running === 0) {
      this.#runningByOrganization.delete(organization);
    }
  }

  #removeIdle(now: Date): void {
    for (const [name, { running, yielded, limit, endedAt, pauseMs }] of this.#lanes) {
      const isHealthy = pauseMs === 0 && limit >= this.#initialLimit;
      const ms = isHealthy ? idleLaneMs.healthy : idleLaneMs.failing;
      if (running + yielded === 0 && now.getTime() >= endedAt + ms) {
        this.#lanes.delete(name);
      }
    }
  }
}

function createLane(limit: number): Lane {
  return {
    limit,
    running: 0,
    yielded: 0,
    slotsPerJob: 1,
    backOffs: 0,
    endedAt: 0,
    backedOffAt: 0,
    pauseMs: 0,
  };
}

/**
 * If the clock is set back, the pause ends: otherwise the lane would be paused until the clock catches up.
 */
function isPaused({ backedOffAt, pauseMs }: Lane, now: Date): boolean {
  const elapsedMs = now.getTime() - backedOffAt;
  return elapsedMs >= 0 && elapsedMs < pauseMs;
}

function backOff(lane: Lane, now: Date): void {
  lane.backOffs += 1;
  lane.backedOffAt = now.getTime();
  if (lane.limit > 1) {
    lane.limit = Math.floor(lane.limit / 2);
    return;
  }
  lane.pauseMs = Math.min(2 * lane.pauseMs || initialPauseMs, maxPauseMs);
}
