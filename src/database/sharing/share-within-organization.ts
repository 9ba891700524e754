/**
 * Runs pieces of work of one organization in shared transactions: the work that arrives while a transaction
 * runs shares the next one, and does most of its statements for all items together.
 *
 * A shared transaction waits only briefly for locks. An item that can't share is left to the caller, which
 * runs it alone: so an item that waits or fails delays no other item.
 */
import type { Database, DatabaseTransaction } from "../database.ts";
import { isLockTimeout } from "../transaction.ts";
import { coalesce } from "./coalesce.ts";
import { recursAlone, sharedLockTimeoutMs } from "./shared-transaction.ts";

/** The largest shared transaction. It keeps the rows of all its items locked. */
const maxItems = 64;

/**
 * Returns the function that does the work of one item, in a transaction that it shares with other items of
 * its organization. Undefined: the item has to run alone. `work` must be safe to repeat; it returns a result
 * for each item, in the same order. Do not call the returned function inside a transaction.
 * @throws the error of `work` if the item shared its transaction with no other.
 */
export function shareWithinOrganization<
  Tx extends DatabaseTransaction,
  Scope extends { readonly database: Database<Tx> },
  Item extends { readonly organization_id: string },
  Result,
>(
  work: (tx: Tx, scope: Scope, items: readonly Item[]) => Promise<readonly (Result | undefined)[]>,
): (scope: Scope, item: Item) => Promise<Result | undefined> {
  return coalesce(
    async (scope: Scope, items: readonly Item[]) => {
      try {
        return await scope.database.transaction((tx) => work(tx, scope, items), {
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
    { maxBatchSize: maxItems },
  );
}
