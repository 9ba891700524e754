/**
 * Runs pieces of work in shared transactions: the work that arrives while a transaction runs shares the next
 * one. A shared transaction waits only briefly for locks.
 *
 * `shareTransactions` is for work whose transaction costs more than its few statements: it shares whatever
 * the organization, and the statements of each organization stay its own. If a shared transaction fails, the
 * work of each organization runs in a transaction of its own, so that no organization delays another.
 *
 * `shareWithinOrganization` is for work that does most of its statements for all items together. An item that
 * can't share is left to the caller, which runs it alone: so an item that waits or fails delays no other item.
 */

import { coalesce, FairBatches, recursAlone, sharedLockTimeoutMs } from "../../../database/sharing/index.ts";
import { isLockTimeout, together } from "../../../database/transaction.ts";
import type { World } from "./context.ts";
import type { Transaction } from "./transaction.ts";

/** The largest shared transaction. In a larger one, the first items would wait too long for the last. */
const maxItems = 128;

interface ItemOfOrganization {
  readonly organization_id: string;
}

/** Does the work of items of one organization, and returns their results in the same order. */
type GroupWork<Item, Result> = (
  tx: Transaction,
  world: World,
  items: readonly Item[],
) => Promise<readonly Result[]>;

/** The result of one item of a shared transaction; undefined if the item has to run alone. */
type SharedResult<Result> = { readonly result: Result } | undefined;

/**
 * Returns the function that does the work of one item, in a transaction that it shares with other items.
 * `work` must be safe to repeat. Do not call the returned function inside a transaction.
 */
export function shareTransactions<Item extends ItemOfOrganization, Result>(
  work: GroupWork<Item, Result>,
): (world: World, item: Item) => Promise<Result> {
  const runAlone = coalesce(
    (world: World, items: readonly Item[]) =>
      world.database.transaction((tx) => work(tx, world, items), { keepsPlans: true }),
    ({ organization_id }) => organization_id,
  );
  const batchesByWorld = new WeakMap<World, FairBatches<Item, SharedResult<Result>>>();
  return async (world, item) => {
    const batches =
      batchesByWorld.get(world) ?? new FairBatches((items) => runShared(world, items, work), maxItems);
    batchesByWorld.set(world, batches);
    const shared = await batches.add(item.organization_id, item);
    return shared ? shared.result : runAlone(world, item);
  };
}

/** The largest shared transaction of one organization. It keeps the rows of all its items locked. */
const maxItemsOfOrganization = 64;

/**
 * Returns the function that does the work of one item, in a transaction that it shares with other items of
 * its organization. Undefined: the item has to run alone. `work` must be safe to repeat; it returns a result
 * for each item, in the same order. Do not call the returned function inside a transaction.
 * @throws the error of `work` if the item shared its transaction with no other.
 */
export function shareWithinOrganization<Item extends ItemOfOrganization, Result>(
  work: GroupWork<Item, Result | undefined>,
): (world: World, item: Item) => Promise<Result | undefined> {
  return coalesce(
    async (world: World, items: readonly Item[]) => {
      try {
        return await world.database.transaction((tx) => work(tx, world, items), {
          keepsPlans: true,
          lockTimeoutMs: sharedLockTimeoutMs,
        });
      } catch (error) {
        const isFinal = recursAlone(error) || items.length === 1;
        if (isFinal && !isLockTimeout(error)) {
          throw error;
        }
        return items.map(() => undefined);
      }
    },
    ({ organization_id }) => organization_id,
    { maxBatchSize: maxItemsOfOrganization },
  );
}

async function runShared<Item extends ItemOfOrganization, Result>(
  world: World,
  items: readonly Item[],
  work: GroupWork<Item, Result>,
): Promise<readonly SharedResult<Result>[]> {
  const groups = groupByOrganization(items);
  try {
    const results = new Map<Item, Result>();
    await world.database.transaction(
      (tx) =>
        together(
          ...groups.map(async (group) => {
            const ofGroup = await work(tx, world, group);
            for (const [index, item] of group.entries()) {
              // `work` returns a result for each item.
              results.set(item, ofGroup[index] as Result);
            }
          }),
        ),
      { keepsPlans: true, lockTimeoutMs: sharedLockTimeoutMs },
    );
    return items.map((item) => ({ result: results.get(item) as Result }));
  } catch (error) {
    if (recursAlone(error)) {
      throw error;
    }
    return items.map(() => undefined);
  }
}

/** In the order of the organizations' ids, so that two shared transactions rarely deadlock. */
function groupByOrganization<Item extends ItemOfOrganization>(
  items: readonly Item[],
): readonly (readonly Item[])[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    groups.set(item.organization_id, [...(groups.get(item.organization_id) ?? []), item]);
  }
  return [...groups].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
}
