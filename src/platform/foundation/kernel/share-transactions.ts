/**
 * Runs pieces of work of several organizations in shared transactions.
 *
 * A transaction costs more than the few statements of one organization in it. So the work that arrives while
 * a transaction runs shares the next one, whatever its organization; the statements of each organization stay
 * its own. A shared transaction waits only briefly for locks. If it fails, the work of each organization runs
 * in a transaction of its own, so that no organization delays another.
 */

import { coalesce, FairBatches, recursAlone, sharedLockTimeoutMs } from "../../../database/sharing/index.ts";
import { together } from "../../../database/transaction.ts";
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
