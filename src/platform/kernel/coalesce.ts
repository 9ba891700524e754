/**
 * Does together what is asked for while the database is busy.
 *
 * One by one, short pieces of database work cost a commit each, and a wait for the same rows where they change
 * the same ones: at hundreds a second that is most of what the database can do. So what comes while one
 * batch runs makes up the next, and each key has one batch, and one connection, at a time in this process.
 */
import type { World } from "./context.ts";

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** More in one statement would make those at its beginning wait. */
const mostTogether = 100;

/**
 * `work` is given the items of a batch and answers for each in the same order; if it throws, each of them has
 * failed. Items with different keys are never in one batch. Not to be asked inside a transaction, which the
 * batch would not be part of.
 */
export function gather<Item, Result>(
  work: (world: World, items: readonly Item[]) => Promise<readonly Result[]>,
  keyOf: (item: Item) => string = () => "",
): (world: World, item: Item) => Promise<Result> {
  const worlds = new WeakMap<World, Map<string, Waiting<Item, Result>[]>>();
  return (world, item) =>
    new Promise<Result>((resolve, reject) => {
      const one = { item, resolve, reject };
      const queues = worlds.get(world) ?? new Map<string, Waiting<Item, Result>[]>();
      worlds.set(world, queues);
      const key = keyOf(item);
      const queue = queues.get(key);
      if (queue) {
        queue.push(one);
        return;
      }
      const begun = [one];
      queues.set(key, begun);
      const drain = async () => {
        while (begun.length > 0) {
          await doTogether(world, begun.splice(0, mostTogether));
        }
        queues.delete(key);
      };
      // What is asked for in the same moment comes along.
      queueMicrotask(() => void drain());
    });

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
