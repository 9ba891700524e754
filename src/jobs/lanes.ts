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
  /** A share has been made while nothing was in flight: unless that brings a job, it has no more. */
  isIdle: boolean;
  width: number;
  restMs: number;
  restsUntil: number;
}

const firstRestMs = 100;
/** A receiver that is well again is found out this late. */
const longestRestMs = 5_000;

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
    const ends = [...this.#lanes.values()].map(({ restsUntil }) => restsUntil);
    return Math.min(...ends.filter((end) => end > now.getTime()));
  }

  share(now: Date): Share {
    this.#forget();
    const inFlight = [...this.#lanes.values()].reduce((sum, lane) => sum + lane.inFlight, 0);
    const free = 4 * this.#widest - inFlight;
    const isCrowded = free <= this.#widest;
    const room = (lane: Lane) => {
      const width = lane.restsUntil > now.getTime() ? 0 : isCrowded ? 1 : lane.width;
      return Math.max(0, width - lane.inFlight);
    };
    return {
      limit: isCrowded ? free : free - this.#widest,
      perLane: isCrowded ? 1 : this.#narrow,
      room: Object.fromEntries([...this.#lanes].map(([name, lane]) => [name, room(lane)])),
    };
  }

  begin(name: string): void {
    const fresh = { inFlight: 0, isIdle: false, width: this.#narrow, restMs: 0, restsUntil: 0 };
    const lane = this.#lanes.get(name) ?? fresh;
    lane.inFlight += 1;
    lane.isIdle = false;
    this.#lanes.set(name, lane);
  }

  end(name: string, { isStrained, now }: { isStrained: boolean; now: Date }): void {
    const lane = this.#lanes.get(name);
    if (!lane) {
      return;
    }
    lane.inFlight -= 1;
    if (isStrained) {
      strain(lane, now);
      return;
    }
    lane.width = Math.min(lane.width + 1, this.#widest);
    lane.restMs = 0;
  }

  /**
   * A lane that is well and idle is as one that never ran. Not as soon as nothing is in flight: jobs that end
   * together leave a lane with a backlog so, and it would never grow wide.
   */
  #forget(): void {
    for (const [name, lane] of this.#lanes) {
      if (lane.inFlight === 0 && lane.width >= this.#narrow) {
        if (lane.isIdle) {
          this.#lanes.delete(name);
        }
        lane.isIdle = true;
      }
    }
  }
}

function strain(lane: Lane, now: Date): void {
  if (lane.width > 1) {
    lane.width = Math.floor(lane.width / 2);
    return;
  }
  lane.restMs = Math.min(2 * lane.restMs || firstRestMs, longestRestMs);
  lane.restsUntil = now.getTime() + lane.restMs;
}
