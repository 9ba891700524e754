/** The database as the rest of the service sees it, on either engine. */
import type { Kysely, Transaction as KyselyTransaction } from "kysely";
import type { PoolUsage } from "../ports/telemetry.ts";
import type { Tables } from "./schema/index.ts";

/** Runs queries: the pool, or an open transaction. */
export type Queries = Kysely<Tables>;

/** An open transaction, required by functions whose writes must commit together. */
export type Transaction = KyselyTransaction<Tables>;

export type TransactionWork<Result> = (tx: Transaction) => Promise<Result>;

export interface TransactionOptions {
  /** As `keepPlans`, for all statements of the transaction. */
  readonly keepsPlans?: boolean;
}

export interface Database extends AsyncDisposable {
  readonly engine: "embedded" | "postgres";
  /** Single statements outside a transaction. Not to be used while one is open: the embedded engine has one connection. */
  readonly queries: Queries;
  /** Runs `work` in a transaction; at most three times in all after a retryable error such as 40001 or 40P01. */
  transaction<Result>(work: TransactionWork<Result>, options?: TransactionOptions): Promise<Result>;
  pool(): PoolUsage;
}

const endings = new WeakMap<Transaction, (() => Promise<unknown>)[]>();
const beforeCommits = new WeakMap<Transaction, (() => Promise<void>)[]>();
const afterCommits = new WeakMap<Transaction, (() => void)[]>();

/** Runs `work` at the end of `tx`, for example to write with one statement what the transaction collected. */
export function beforeCommit(tx: Transaction, work: () => Promise<void>): void {
  listFor(beforeCommits, tx).push(work);
}

/**
 * Sends a statement together with the COMMIT, so that it costs no wait of its own. Only for a statement whose result
 * decides nothing: its failure rolls the transaction back, the number of its rows does not.
 */
export function sendWithCommit(tx: Transaction, execute: () => Promise<unknown>): void {
  listFor(endings, tx).push(execute);
}

/** Runs `callback` once `tx` has committed; never if it is rolled back. */
export function afterCommit(tx: Transaction, callback: () => void): void {
  listFor(afterCommits, tx).push(callback);
}

function listFor<Item>(lists: WeakMap<Transaction, Item[]>, tx: Transaction): Item[] {
  const list = lists.get(tx) ?? [];
  lists.set(tx, list);
  return list;
}

/** The statements to send with the COMMIT. */
export function endingsOf(tx: Transaction): readonly (() => Promise<unknown>)[] {
  return listFor(endings, tx);
}

/** Called by `Database.transaction` only. */
export async function runBeforeCommit(tx: Transaction): Promise<void> {
  // The loop includes work that is added by other work.
  for (const work of listFor(beforeCommits, tx)) {
    await work();
  }
}

/** Called by `Database.transaction` only. */
export function runAfterCommit(tx: Transaction): void {
  for (const callback of listFor(afterCommits, tx)) {
    callback();
  }
}
