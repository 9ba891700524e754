/** Reads once for callers that want the same at the same moment. */
import { coalesce } from "./coalesce.ts";

/**
 * Returns the function that reads. Of calls with the same key, all that wait for the next reading get its
 * result: it begins after each of them. Do not call the returned function inside a transaction.
 * @param keyOf the values that tell what is read, which may be of any form
 */
export function shareReading<Scope extends object, Item, Result>(
  read: (scope: Scope, item: Item) => Promise<Result>,
  keyOf: (item: Item) => readonly string[],
): (scope: Scope, item: Item) => Promise<Result> {
  return coalesce(
    async (scope: Scope, items: readonly Item[]) => {
      // A batch has at least one item.
      const result = await read(scope, items[0] as Item);
      return items.map(() => result);
    },
    (item) => JSON.stringify(keyOf(item)),
  );
}
