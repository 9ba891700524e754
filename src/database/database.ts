/** The database as the rest of the service sees it, on either engine. */
import { type Kysely, type KyselyProps, Transaction as KyselyTransaction } from "kysely";
import type { PoolUsage } from "../ports/telemetry/telemetry.ts";
import type { Tables } from "./schema/index.ts";

/** Runs queries: the pool, or an open transaction. */
export type Queries = Kysely<Tables>;

/** An open transaction, required by functions whose writes must commit together. */
export class DatabaseTransaction extends KyselyTransaction<Tables> {
  readonly #works: (() => Promise<void>)[] = [];
  readonly #endings: (() => Promise<unknown>)[] = [];
  readonly #callbacks: (() => void)[] = [];

  /** Runs `work` at the end of the transaction, before its commit. */
  beforeCommit(work: () => Promise<void>): void {
    this.#works.push(work);
  }

  /**
   * Sends a statement together with the COMMIT, so that it costs no wait of its own. Only for a statement whose result
   * decides nothing: its failure rolls the transaction back, the number of its rows does not.
   */
  sendWithCommit(execute: () => Promise<unknown>): void {
    this.#endings.push(execute);
  }

  /** Runs `callback` once the transaction has committed; never if it is rolled back. */
  afterCommit(callback: () => void): void {
    this.#callbacks.push(callback);
  }

  /** For `Database.transaction` only. */
  async runBeforeCommit(): Promise<void> {
    // The loop includes work that is added by other work.
    for (const work of this.#works) {
      await work();
    }
  }

  /** For `Database.transaction` only: sends the statements that go with the COMMIT. */
  sendEndings(): Promise<unknown>[] {
    return this.#endings.map((execute) => execute());
  }

  /** For `Database.transaction` only. */
  runAfterCommit(): void {
    for (const callback of this.#callbacks) {
      callback();
    }
  }
}

export type TransactionWork<Result, Tx extends DatabaseTransaction = DatabaseTransaction> = (
  tx: Tx,
) => Promise<Result>;

export interface TransactionOptions {
  /** As `keepPlans`, for all statements of the transaction. */
  readonly keepsPlans?: boolean;
}

/** `Tx` is the class of its transactions. */
export interface Database<Tx extends DatabaseTransaction = DatabaseTransaction> extends AsyncDisposable {
  readonly engine: "embedded" | "postgres";
  /** Single statements outside a transaction. Not to be used while one is open: the embedded engine has one connection. */
  readonly queries: Queries;
  /** Runs `work` in a transaction; at most three times in all after a retryable error such as 40001 or 40P01. */
  transaction<Result>(work: TransactionWork<Result, Tx>, options?: TransactionOptions): Promise<Result>;
  /** The same database, whose transactions are made by `create`. */
  withTransactions<Other extends DatabaseTransaction>(create: (props: KyselyProps) => Other): Database<Other>;
  pool(): PoolUsage;
}
