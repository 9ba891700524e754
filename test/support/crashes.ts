/** Crashes of a process, simulated in the transactions of its modules. */
import type { Database, TransactionWork } from "../../src/database/database.ts";
import type { World } from "../../src/platform/foundation/kernel/index.ts";

class Crash extends Error {}

/** Before its commit, which rolls it back, or after it, so that what comes next is not done. */
export type CrashTime = "before" | "after";

/** Makes those transactions fail of which `isCrash` is true, until the returned function is called. */
export function crashTransactions(
  world: World,
  { isCrash, when }: { readonly isCrash: () => boolean; readonly when: CrashTime },
): () => void {
  const { database } = world;
  const transaction: Database["transaction"] = async <Result>(
    work: TransactionWork<Result>,
    options?: Parameters<Database["transaction"]>[1],
  ) => {
    const crashes = isCrash();
    const result = await database.transaction(async (tx) => {
      const done = await work(tx);
      if (crashes && when === "before") {
        throw new Crash();
      }
      return done;
    }, options);
    if (crashes) {
      throw new Crash();
    }
    return result;
  };
  Object.assign(world, { database: { ...database, transaction } });
  return () => void Object.assign(world, { database });
}
