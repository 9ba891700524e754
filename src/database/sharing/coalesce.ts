/**
 * Coalesces short pieces of database work into batches while the database is busy.
 *
 * One by one, each piece costs a commit, and pieces that change the same rows wait for each other: at
 * hundreds per second that is most of the database's capacity. So items that arrive while a batch runs form
 * the next batch. In this process, each key has one batch, and one connection, at a time.
 */

import { NoAnswerError, sqlState } from "../outage/index.ts";
import { batchesOwner, currentOwner, runFor } from "./fair-queue.ts";

interface PendingItem<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface BatchOptions<Scope, Item> {
  /**
   * The largest batch. Default 128: in a larger batch, the first items would wait too long for the last item.
   */
  readonly maxBatchSize?: number;
  /**
   * Called with the error of a batch: whether each item runs again, alone. Default: if the
   * database rejected a value.
   */
  readonly runsEachAlone?: (scope: Scope, error: unknown, items: readonly Item[]) => boolean;
  /** Whether items of different organizations may be in the same batch. Default false. */
  readonly mixesOrganizations?: boolean;
}

/**
 * `runBatch` returns one result for each item, in the same order, and must be safe to repeat. If it throws,
 * every item of the batch fails, or each item runs again, alone, so that only its own failure counts
 * (`runsEachAlone`). If the database does not answer, the items that wait for the next batch fail too. Items
 * with different keys are never in the same batch, nor, by default, items whose queries wait in different
 * queues. Do not call the returned function inside a transaction, unless the transaction is the `scope`: the
 * batch is not part of it.
 * @returns a function with separate batches for each `scope`, the object that it works with.
 */
export function coalesce<Scope extends object, Item, Result>(
  runBatch: (scope: Scope, items: readonly Item[]) => Promise<readonly Result[]>,
  keyOf: (item: Item) => string = () => "",
  {
    maxBatchSize = 128,
    runsEachAlone = isOfOneRow,
    mixesOrganizations = false,
  }: BatchOptions<Scope, Item> = {},
): (scope: Scope, item: Item) => Promise<Result> {
  const queuesByScope = new WeakMap<Scope, Map<string, PendingItem<Item, Result>[]>>();
  return (scope, item) =>
    new Promise<Result>((resolve, reject) => {
      const pending = { item, resolve, reject };
      const queues = queuesByScope.get(scope) ?? new Map<string, PendingItem<Item, Result>[]>();
      queuesByScope.set(scope, queues);
      const owner = mixesOrganizations ? batchesOwner : currentOwner();
      const key = `${owner} ${keyOf(item)}`;
      const running = queues.get(key);
      if (running) {
        running.push(pending);
        return;
      }
      const queue = [pending];
      queues.set(key, queue);
      const drain = async () => {
        while (queue.length > 0) {
          const error = await settleBatch(scope, queue.splice(0, maxBatchSize));
          // The items that wait for the next batch would wait just as long for it.
          if (error instanceof NoAnswerError) {
            rejectAll(queue.splice(0), error);
          }
        }
        queues.delete(key);
      };
      // Items that are added in the same tick join the first batch.
      queueMicrotask(() => void runFor(owner, drain));
    });

  /** Runs a batch. Returns its error if it failed. */
  async function settleBatch(scope: Scope, batch: readonly PendingItem<Item, Result>[]): Promise<unknown> {
    const items = batch.map(({ item }) => item);
    try {
      const results = await runBatch(scope, items);
      if (results.length !== batch.length) {
        throw new Error(`A batch of ${batch.length} items returned ${results.length} results`);
      }
      for (const [index, result] of results.entries()) {
        batch[index]?.resolve(result);
      }
    } catch (error) {
      const isAnswered = !(error instanceof NoAnswerError);
      if (batch.length > 1 && isAnswered && runsEachAlone(scope, error, items)) {
        for (const pending of batch) {
          await settleBatch(scope, [pending]);
        }
        return undefined;
      }
      rejectAll(batch, error);
      return error;
    }
    return undefined;
  }
}

function rejectAll(items: readonly Pick<PendingItem<unknown, unknown>, "reject">[], error: unknown): void {
  for (const { reject } of items) {
    reject(error);
  }
}

/**
 * Whether the error is caused by a value: one that can't be stored (class 22), or that violates a constraint
 * (class 23).
 */
function isOfOneRow(_: unknown, error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? "");
}
