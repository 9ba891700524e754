/**
 * Shares the connections of a pool between organizations.
 *
 * Work that waits for a connection is served round-robin by organization, so that many requests of one delay those
 * of another by one of its queries, not by all of them. Nothing is limited while nothing else waits.
 */
import { AsyncLocalStorage } from "node:async_hooks";

const owners = new AsyncLocalStorage<string>();

/** Queries outside `runFor` are the service's own. */
const service = "service";

/** Runs `work`, whose queries wait in the queue of this organization. */
export function runFor<Result>(organization: string, work: () => Result): Result {
  return owners.run(organization, work);
}

/** No connection became free in time. */
export class NoFreeConnectionError extends Error {
  override readonly name = "NoFreeConnectionError";
}

interface Waiter {
  start(): void;
}

export class FairQueue {
  #free: number;
  /** The waiting work of each organization; the first organization is served next. */
  readonly #waiting = new Map<string, Waiter[]>();
  readonly #timeoutMs: number;

  constructor(size: number, timeoutMs: number) {
    this.#free = size;
    this.#timeoutMs = timeoutMs;
  }

  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Waits for a place; call `release` when done. @throws NoFreeConnectionError */
  async acquire(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const owner = owners.getStore() ?? service;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#remove(owner, waiter);
        reject(
          new NoFreeConnectionError(
            `No database connection became free in ${this.#timeoutMs} ms. Inside a transaction, use only its \`tx\` for queries.`,
          ),
        );
      }, this.#timeoutMs);
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

  release(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free += 1;
      return;
    }
    const [owner, queue] = next;
    const waiter = queue.shift();
    // At the end again: the other organizations are served first.
    this.#waiting.delete(owner);
    if (queue.length > 0) {
      this.#waiting.set(owner, queue);
    }
    waiter?.start();
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
