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
  restMs: number;
  restsUntil: number;
  /** When its latest job ended. */
  endedAt: number;
}

const firstRestMs = 100;
/** A receiver that is well again is found out this late. */
const longestRestMs = 5_000;
/**
 * A lane that was strained is forgotten this long after its latest job: what is remembered goes along with each
 * claim, and the webhooks that failed and were deleted would grow without end.
 */
const rememberedMs = 60_000;

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
    const resting = [...this.#lanes.values()].filter((lane) => rests(lane, now));
    return Math.min(...resting.map(({ restsUntil }) => restsUntil));
  }

  share(now: Date): Share {
    this.#forget(now);
    const inFlight = [...this.#lanes.values()].reduce((sum, lane) => sum + lane.inFlight, 0);
    const free = 4 * this.#widest - inFlight;
    const isCrowded = free <= this.#widest;
    const room = (lane: Lane) => {
      const width = rests(lane, now) ? 0 : isCrowded ? 1 : lane.width;
      return Math.max(0, width - lane.inFlight);
    };
    return {
      limit: isCrowded ? free : free - this.#widest,
      perLane: isCrowded ? 1 : this.#narrow,
      room: Object.fromEntries([...this.#lanes].map(([name, lane]) => [name, room(lane)])),
    };
  }

  begin(name: string): void {
    const fresh = { inFlight: 0, width: this.#narrow, restMs: 0, restsUntil: 0, endedAt: 0 };
    const lane = this.#lanes.get(name) ?? fresh;
    lane.inFlight += 1;
    this.#lanes.set(name, lane);
  }

  end(name: string, { isStrained, now }: { isStrained: boolean; now: Date }): void {
    const lane = this.#lanes.get(name);
    if (!lane) {
      return;
    }
    lane.inFlight -= 1;
    lane.endedAt = now.getTime();
    if (isStrained) {
      strain(lane, now);
      return;
    }
    lane.width = Math.min(lane.width + 1, this.#widest);
    lane.restMs = 0;
    // A lane that is well and idle is as one that never ran.
    if (lane.inFlight === 0 && lane.width >= this.#narrow) {
      this.#lanes.delete(name);
    }
  }

  #forget(now: Date): void {
    for (const [name, { inFlight, endedAt }] of this.#lanes) {
      if (inFlight === 0 && now.getTime() - endedAt > rememberedMs) {
        this.#lanes.delete(name);
      }
    }
  }
}

/** Not for longer than the longest rest, although the clock was set back meanwhile. */
function rests({ restsUntil }: Lane, now: Date): boolean {
  const leftMs = restsUntil - now.getTime();
  return leftMs > 0 && leftMs <= longestRestMs;
}

function strain(lane: Lane, now: Date): void {
  if (lane.width > 1) {
    lane.width = Math.floor(lane.width / 2);
    return;
  }
  lane.restMs = Math.min(2 * lane.restMs || firstRestMs, longestRestMs);
  lane.restsUntil = now.getTime() + lane.restMs;
}
