/**
 * How many jobs of each lane may run at once in this process, so that no lane delays another.
 *
 * There are slots for four lanes at full concurrency. The last quarter of the slots is reserved for lanes with
 * nothing running, one job each, so a lane whose jobs all hang costs the others nothing. It is reserved for
 * organizations with few jobs running too: an organization may have a hundred lanes, and all of them may hang.
 *
 * Each lane has an adaptive limit: every job that ends normally raises it by one, a job that asks to back off
 * halves it. At a limit of one, backing off pauses the lane, each time for longer. A failing destination is
 * retried now and then and takes few slots.
 *
 * A job that only waits for a third party may yield its slots after a while, so that a few requests that hang do not
 * delay the lane's other jobs. At most `concurrency` slots of a lane, and four times as many in all, are yielded.
 */

/** How many jobs may be claimed now. */
export interface Capacity {
  /** In all. */
  readonly limit: number;
  /** Of a lane that `freeByLane` does not name. */
  readonly perLane: number;
  readonly freeByLane: Readonly<Record<string, number>>;
  /** Organizations of which no job may be claimed. */
  readonly fullOrganizations: readonly string[];
}

/** A job that starts. */
export interface StartingJob {
  readonly lane: string;
  /** Null for the service's own. */
  readonly organization: string | null;
  /** The slots that it takes. */
  readonly slots: number;
  /** When it yields them, in ms since the epoch; default never. */
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
  /** Slots in use, as its limit is. */
  running: number;
  /** Slots that its running jobs have yielded. */
  yielded: number;
  limit: number;
  /** Those of its last job: the jobs of a lane are of one kind. */
  slotsPerJob: number;
  /** Jobs that ran side by side report the same failure: only the first that asks to back off counts. */
  backOffs: number;
  endedAt: number;
  backedOffAt: number;
  /** The pause since `backedOffAt`; 0 while the lane is not paused. */
  pauseMs: number;
}

const initialPauseMs = 100;
/** The delay until a recovered destination is noticed. */
const maxPauseMs = 5_000;
/**
 * How long the limit of an idle lane is kept. A healthy lane's is kept too: jobs that end together leave
 * nothing running, however long the backlog is.
 */
const idleLaneMs = { healthy: 1_000, failing: 60_000 };

export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  /** The slots in use by each organization. */
  readonly #runningByOrganization = new Map<string, number>();
  /** The running jobs that may yield their slots and have not, in the order of their starts. */
  readonly #yielding = new Set<RunningJob>();
  #yielded = 0;
  readonly #maxLimit: number;
  readonly #initialLimit: number;

  constructor(concurrency: number) {
    this.#maxLimit = concurrency;
    this.#initialLimit = Math.ceil(concurrency / 4);
  }

  /** Whether a lane that does not back off has no slot left for another job. */
  get hasFull(): boolean {
    return [...this.#lanes.values()].some(
      ({ limit, running, slotsPerJob }) => limit >= this.#initialLimit && running + slotsPerJob > limit,
    );
  }

  /** When the first paused lane resumes; infinity without one. */
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
      // One by one from the reserve, because several jobs of one claim may be of the same organization.
      limit: Math.floor(isReserve ? Math.min(free, 1) : free - this.#maxLimit),
      perLane: isReserve ? 1 : this.#initialLimit,
      freeByLane: Object.fromEntries([...this.#lanes].map(([name, lane]) => [name, freeIn(lane)])),
      fullOrganizations: [...this.#runningByOrganization].filter(isFull).map(([id]) => id),
    };
  }

  /** Counts a job that starts; the result is called when it ends. */
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

/** A clock that was set back ends the pause: otherwise the lane would be paused until the clock catches up. */
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
