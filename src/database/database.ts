/** What a database is to the rest of the house, whichever engine is behind it. */
import type { Kysely, Transaction as KyselyTransaction } from "kysely";
import type { Tables } from "./schema/index.ts";

/** Something that can be read from: the pool, or an open transaction. */
export type Queries = Kysely<Tables>;

/** An open transaction. What must commit together demands one of these. */
export type Transaction = KyselyTransaction<Tables>;

/** How busy the connections are. */
export interface PoolUse {
  readonly inUse: number;
  /** Who waits for one to become free. */
  readonly waiting: number;
}

export interface Database extends AsyncDisposable {
  readonly engine: "embedded" | "postgres";
  /** Single statements outside a transaction. Never used while one is open: the embedded engine has one connection. */
  readonly queries: Queries;
  /** Runs `work` in a transaction; again, at most three times in all, when the engine asks for it (40001, 40P01). */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
  pool(): PoolUse;
}

/**
 * Stands in a statement whose best plan depends on its values, such as a search: it gets no name, and so no
 * plan that serves all values alike.
 */
export const plannedAnew = "/* planned anew */";

const endings = new WeakMap<Transaction, (() => Promise<void>)[]>();
const callbacks = new WeakMap<Transaction, (() => void)[]>();

/** Runs `work` as the last thing that `tx` does: what is gathered while it runs is written once, in one statement. */
export function beforeCommit(tx: Transaction, work: () => Promise<void>): void {
  listFor(endings, tx).push(work);
}

/** Runs `callback` once `tx` has committed; never if it is rolled back. */
export function afterCommit(tx: Transaction, callback: () => void): void {
  listFor(callbacks, tx).push(callback);
}

function listFor<Item>(lists: WeakMap<Transaction, Item[]>, tx: Transaction): Item[] {
  const list = lists.get(tx) ?? [];
  lists.set(tx, list);
  return list;
}

/** For the engine alone: what is to be done in this transaction before it commits. */
export async function conclude(tx: Transaction): Promise<void> {
  // What one of them adds is done too.
  for (const work of listFor(endings, tx)) {
    await work();
  }
}

/** For the engine alone: what waits for this transaction's commit. */
export function committed(tx: Transaction): void {
  for (const callback of listFor(callbacks, tx)) {
    callback();
  }
}
