/**
 * Coalesces short pieces of database work into batches while the database is busy.
 *
 * One by one, each piece costs a commit, and pieces that change the same rows wait for each other: at
 * hundreds a second that is most of the database's capacity. So items that arrive while a batch runs form
 * the next one, and each key has one batch, and one connection, at a time in this process.
 */
import type { World } from "./context.ts";

interface PendingItem<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** In a larger batch, the first items would wait too long for the last. */
const maxBatchSize = 100;

/**
 * `runBatch` returns one result for each item, in the same order; if it throws, every item of the batch
 * fails. Items with different keys are never in one batch. Do not call the returned function inside a
 * transaction: the batch is not part of it.
 */
export function coalesce<Item, Result>(
  runBatch: (world: World, items: readonly Item[]) => Promise<readonly Result[]>,
  keyOf: (item: Item) => string = () => "",
): (world: World, item: Item) => Promise<Result> {
  const queuesByWorld = new WeakMap<World, Map<string, PendingItem<Item, Result>[]>>();
  return (world, item) =>
    new Promise<Result>((resolve, reject) => {
      const pending = { item, resolve, reject };
      const queues = queuesByWorld.get(world) ?? new Map<string, PendingItem<Item, Result>[]>();
      queuesByWorld.set(world, queues);
      const key = keyOf(item);
      const running = queues.get(key);
      if (running) {
        running.push(pending);
        return;
      }
      const queue = [pending];
      queues.set(key, queue);
      const drain = async () => {
        while (queue.length > 0) {
          await settleBatch(world, queue.splice(0, maxBatchSize));
        }
        queues.delete(key);
      };
      // Items that are added in the same tick join the first batch.
      queueMicrotask(() => void drain());
    });

  async function settleBatch(world: World, batch: readonly PendingItem<Item, Result>[]): Promise<void> {
    try {
      const results = await runBatch(
        world,
        batch.map(({ item }) => item),
      );
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
}
