/**
 * Shares places, such as the connections of a pool, between organizations.
 *
 * Work that waits for a place is served round-robin by organization, so that many requests of one
 * organization delay another organization by one query, and not by all of them. While several organizations
 * are active, each may hold three of ten places: with all ten, one organization would occupy all processors
 * of the database. An organization that is active alone may hold all places.
 */
import { AsyncLocalStorage } from "node:async_hooks";

const owners = new AsyncLocalStorage<string>();

/** The owner of queries of several organizations together. */
export const batchesOwner = "batches";

/** The owner of queries of requests without a caller. */
export const anonymousOwner = "anonymous";

/** The owner of queries that write the record of calls. */
export const recordOwner = "record";

/** Owners that are no organization: their activity limits no organization that is active alone. */
const sharedOwners: ReadonlySet<string> = new Set([batchesOwner, anonymousOwner, recordOwner]);

/** The owner of queries outside `runFor`, which belong to the service itself and are not limited. */
const service = "service";

/** The share of the places that one of several active organizations may hold. */
const share = 0.3;

/** An organization is active until it has requested no place for this long. */
const activeMs = 1_000;

/** Runs `work`, whose queries wait in the queue of this organization. */
export function runFor<Result>(organization: string, work: () => Result): Result {
  return owners.run(organization, work);
}

/** The organization in whose queue the queries of the present work wait. */
export function currentOwner(): string {
  return owners.getStore() ?? service;
}

/** No place became free in time. */
export class NoFreePlaceError extends Error {
  override readonly name = "NoFreePlaceError";
}

interface Waiter {
  start(): void;
}

interface QueueOptions {
  readonly size: number;
  readonly timeoutMs: number;
  /** Describes a place, for the error text. */
  readonly place: string;
  /** Milliseconds, from any origin. */
  readonly now?: () => number;
}

export class FairQueue {
  #free: number;
  /** The waiting work of each organization; the first organization is served next. */
  readonly #waiting = new Map<string, Waiter[]>();
  /** How many places each organization holds. */
  readonly #held = new Map<string, number>();
  /** When each organization last requested a place, in this order. Has no shared owners. */
  readonly #asked = new Map<string, number>();
  readonly #options: Required<QueueOptions>;

  constructor(options: QueueOptions) {
    this.#options = { now: () => performance.now(), ...options };
    this.#free = options.size;
  }

  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Waits for a place, and returns the function that releases it. @throws NoFreePlaceError */
  async acquire(): Promise<() => void> {
    const owner = currentOwner();
    this.#noteActive(owner);
    if (this.#waiting.has(owner) || !this.#mayTake(owner)) {
      await this.#wait(owner);
    } else {
      this.#take(owner);
    }
    return () => this.#release(owner);
  }

  #noteActive(owner: string): void {
    if (owner !== service && !sharedOwners.has(owner)) {
      this.#asked.delete(owner);
      this.#asked.set(owner, this.#options.now());
    }
  }

  #mayTake(owner: string): boolean {
    if (this.#free === 0) {
      return false;
    }
    const held = this.#held.get(owner) ?? 0;
    return owner === service || held < Math.max(1, this.#options.size * share) || this.#isActiveAlone(owner);
  }

  /** Whether recently no other organization has requested a place or is waiting for one. */
  #isActiveAlone(owner: string): boolean {
    const since = this.#options.now() - activeMs;
    for (const [organization, askedAt] of this.#asked) {
      if (askedAt > since) {
        break;
      }
      if (!this.#waiting.has(organization)) {
        this.#asked.delete(organization);
      }
    }
    return this.#asked.size === (this.#asked.has(owner) ? 1 : 0);
  }

  #take(owner: string): void {
    this.#free -= 1;
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
  }

  #wait(owner: string): Promise<void> {
    const { timeoutMs, place } = this.#options;
    return new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#remove(owner, waiter);
        reject(new NoFreePlaceError(`No ${place} became free in ${timeoutMs} ms.`));
      }, timeoutMs);
      const waiter = {
        start() {
          clearTimeout(timer);
          resolve();
        },
      };
      const queue = this.#waiting.get(owner);
      if (queue) {
        queue.push(waiter);
      } else {
        this.#waiting.set(owner, [waiter]);
      }
    });
  }

  #release(owner: string): void {
    this.#free += 1;
    const held = (this.#held.get(owner) ?? 1) - 1;
    if (held > 0) {
      this.#held.set(owner, held);
    } else {
      this.#held.delete(owner);
    }
    while (this.#startNext()) {
      // Starts several waiting requests if the limit of an organization has just ended.
    }
  }

  #startNext(): boolean {
    const next = [...this.#waiting].find(([owner]) => this.#mayTake(owner));
    if (!next) {
      return false;
    }
    const [owner, queue] = next;
    const waiter = queue.shift();
    // Moved to the end, so that the other organizations are served first.
    this.#waiting.delete(owner);
    if (queue.length > 0) {
      this.#waiting.set(owner, queue);
    }
    this.#take(owner);
    waiter?.start();
    return true;
  }

  #remove(owner: string, waiter: Waiter): void {
    const left = this.#waiting.get(owner)?.filter((other) => other !== waiter) ?? [];
    if (left.length > 0) {
      this.#waiting.set(owner, left);
    } else {
      this.#waiting.delete(owner);
    }
  }
}
