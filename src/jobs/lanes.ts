/**
 * How many jobs of each lane may run at once in this process, so that no lane keeps another waiting.
 *
 * There is room for four lanes of the full width; the last quarter is kept for lanes that have nothing in
 * flight, one job each. So a lane whose jobs all hang costs the others nothing.
 *
 * A lane begins narrow, and every job that ends well makes it wider by one. A job that was strained halves it;
 * a lane of width one that is strained again rests before its next job, for longer each time. So what is in
 * trouble is tried now and then, and takes neither slots nor time from what is well.
 */

/** What one claim may take. */
export interface Share {
  /** Jobs in all. */
  readonly limit: number;
  /** Jobs of a lane that `room` does not name. */
  readonly perLane: number;
  /** Jobs by lane, of those that are known. */
  readonly room: Readonly<Record<string, number>>;
}

interface Lane {
  inFlight: number;
  width: number;
  /** How often it was strained. Those that ran beside each other tell of one trouble, so they count once. */
  strains: number;
  endedAt: number;
  /** When it was last strained, and how long it rests since then. */
  strainedAt: number;
  restMs: number;
}

const firstRestMs = 100;
/** What is well again is found out this late. */
const longestRestMs = 5_000;
/**
 * A lane that had nothing to do for so long is as one that never ran. One that is well is remembered too: jobs
 * that end together leave nothing in flight, whatever backlog there is.
 */
const rememberedMs = { well: 1_000, troubled: 60_000 };

export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #widest: number;
  readonly #narrow: number;

  constructor(concurrency: number) {
    this.#widest = concurrency;
    this.#narrow = Math.ceil(concurrency / 4);
  }

  /** When the first of those that rest now may go on. */
  restEnd(now: Date): number {
    const resting = [...this.#lanes.values()].filter((lane) => isResting(lane, now));
    return Math.min(...resting.map(({ strainedAt, restMs }) => strainedAt + restMs));
  }

  share(now: Date): Share {
    this.#forget(now);
    const inFlight = [...this.#lanes.values()].reduce((sum, lane) => sum + lane.inFlight, 0);
    const free = 4 * this.#widest - inFlight;
    const isCrowded = free <= this.#widest;
    const room = (lane: Lane) => {
      const width = isResting(lane, now) ? 0 : isCrowded ? 1 : lane.width;
      return Math.max(0, width - lane.inFlight);
    };
    return {
      limit: isCrowded ? free : free - this.#widest,
      perLane: isCrowded ? 1 : this.#narrow,
      room: Object.fromEntries([...this.#lanes].map(([name, lane]) => [name, room(lane)])),
    };
  }

  /** Counts a job in; to be told when it has ended, and how. */
  begin(name: string): (end: { readonly isStrained: boolean; readonly now: Date }) => void {
    const lane = this.#lanes.get(name) ?? startLane(this.#narrow);
    lane.inFlight += 1;
    this.#lanes.set(name, lane);
    const { strains } = lane;
    return ({ isStrained, now }) => {
      lane.inFlight -= 1;
      lane.endedAt = now.getTime();
      if (!isStrained) {
        lane.width = Math.min(lane.width + 1, this.#widest);
        lane.restMs = 0;
      } else if (strains === lane.strains) {
        strain(lane, now);
      }
    };
  }

  #forget(now: Date): void {
    for (const [name, { inFlight, width, endedAt, restMs }] of this.#lanes) {
      const isWell = restMs === 0 && width >= this.#narrow;
      const keptMs = isWell ? rememberedMs.well : rememberedMs.troubled;
      if (inFlight === 0 && now.getTime() >= endedAt + keptMs) {
        this.#lanes.delete(name);
      }
    }
  }
}

function startLane(width: number): Lane {
  return { width, inFlight: 0, strains: 0, endedAt: 0, strainedAt: 0, restMs: 0 };
}

/** Not by a clock that was turned back: it would rest for as long as that. */
function isResting({ strainedAt, restMs }: Lane, now: Date): boolean {
  const sinceMs = now.getTime() - strainedAt;
  return sinceMs >= 0 && sinceMs < restMs;
}

function strain(lane: Lane, now: Date): void {
  lane.strains += 1;
  lane.strainedAt = now.getTime();
  if (lane.width > 1) {
    lane.width = Math.floor(lane.width / 2);
    return;
  }
  lane.restMs = Math.min(2 * lane.restMs || firstRestMs, longestRestMs);
}
