/**
 * Collects items of several organizations into batches.
 *
 * While a batch runs, the items that are added wait for the next batch. One batch runs at a time. The items
 * of a batch are taken round-robin by organization, so that many items of one organization delay an item of
 * another organization by at most one batch.
 */
import { batchesOwner, runFor } from "./fair-queue.ts";

interface WaitingItem<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** `runBatch` returns one result for each item, in the same order. */
type BatchRunner<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

export class FairBatches<Item, Result> {
  readonly #runBatch: BatchRunner<Item, Result>;
  readonly #maxSize: number;
  /** The waiting items by organization; the first organization is served next. */
  readonly #waiting = new Map<string, WaitingItem<Item, Result>[]>();
  #isRunning = false;

  constructor(runBatch: BatchRunner<Item, Result>, maxSize: number) {
    this.#runBatch = runBatch;
    this.#maxSize = maxSize;
  }

  /** The result of the item. @throws the error of its batch. */
  add(organization: string, item: Item): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const waiting = { item, resolve, reject };
      const queue = this.#waiting.get(organization);
      if (queue) {
        queue.push(waiting);
      } else {
        this.#waiting.set(organization, [waiting]);
      }
      if (!this.#isRunning) {
        this.#isRunning = true;
        // Items that are added in the same tick join the first batch.
        queueMicrotask(() => void runFor(batchesOwner, () => this.#runAll()));
      }
    });
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const batch = this.#take();
      try {
        const results = await this.#runBatch(batch.map(({ item }) => item));
        if (results.length !== batch.length) {
          throw new Error(`A batch of ${batch.length} items returned ${results.length} results`);
        }
        for (const [index, result] of results.entries()) {
          batch[index]?.resolve(result);
        }
      } catch (error) {
        for (const { reject } of batch) {
          reject(error);
        }
      }
    }
    this.#isRunning = false;
  }

  #take(): WaitingItem<Item, Result>[] {
    const taken: WaitingItem<Item, Result>[] = [];
    while (taken.length < this.#maxSize) {
      const [next] = this.#waiting;
      if (!next) {
        break;
      }
      const [organization, queue] = next;
      taken.push(...queue.splice(0, 1));
      // Moved to the end, so that the other organizations are served first.
      this.#waiting.delete(organization);
      if (queue.length > 0) {
        this.#waiting.set(organization, queue);
      }
    }
    return taken;
  }
}
