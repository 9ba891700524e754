/**
 * Does together what is asked for while the database is busy.
 *
 * A delivery is two short pieces of database work. One by one they would cost the database a commit each, and
 * at a thousand a second that is most of what it can do; so what comes while one batch runs makes up the next.
 */
import type { World } from "../core/world.ts";

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** More in one statement would make those at its beginning wait. */
const mostTogether = 100;

/**
 * `work` is given the items of a batch and answers for each in the same order; if it throws, each of them has
 * failed. Not to be asked inside a transaction, which the batch would not be part of.
 */
export function gather<Item, Result>(
  work: (world: World, items: readonly Item[]) => Promise<readonly Result[]>,
): (world: World, item: Item) => Promise<Result> {
  const queues = new WeakMap<World, Waiting<Item, Result>[]>();
  return (world, item) =>
    new Promise<Result>((resolve, reject) => {
      const one = { item, resolve, reject };
      const queue = queues.get(world);
      if (queue) {
        queue.push(one);
        return;
      }
      const begun = [one];
      queues.set(world, begun);
      // What is asked for in the same moment comes along.
      queueMicrotask(() => void drain(world, begun));
    });

  async function drain(world: World, queue: Waiting<Item, Result>[]): Promise<void> {
    while (queue.length > 0) {
      await doTogether(world, queue.splice(0, mostTogether));
    }
    queues.delete(world);
  }

  async function doTogether(world: World, batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await work(
        world,
        batch.map(({ item }) => item),
      );
      for (const [index, { resolve }] of batch.entries()) {
        // One for each item, as agreed.
        resolve(results[index] as Result);
      }
    } catch (error) {
      for (const { reject } of batch) {
        reject(error);
      }
    }
  }
}
