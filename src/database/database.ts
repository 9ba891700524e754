/** The database in the form that the other layers use, on either engine. */
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
  /** The transaction that has taken this part over. */
  #whole: DatabaseTransaction | undefined;

  /** Runs `work` at the end of the transaction, before its commit. */
  beforeCommit(work: () => Promise<void>): void {
    this.#whole?.beforeCommit(work);
    this.#works.push(work);
  }

  /**
   * Sends a statement together with the COMMIT, so that it costs no wait of its own. Only for a statement
   * whose result nothing depends on: if it fails, the transaction is rolled back, and its number of rows is
   * ignored.
   */
  sendWithCommit(execute: () => Promise<unknown>): void {
    this.#whole?.sendWithCommit(execute);
    this.#endings.push(execute);
  }

  /** Runs `callback` once the transaction has committed; never if it is rolled back. */
  afterCommit(callback: () => void): void {
    this.#whole?.afterCommit(callback);
    this.#callbacks.push(callback);
  }

  /** Takes over what `part`, a savepoint of this transaction, does before, with and after the commit. */
  protected takeOver(part: DatabaseTransaction): void {
    part.#whole = this;
    for (const work of part.#works) {
      this.beforeCommit(work);
    }
    for (const execute of part.#endings) {
      this.sendWithCommit(execute);
    }
    for (const callback of part.#callbacks) {
      this.afterCommit(callback);
    }
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
  /** Like `keepPlans`, for all statements of the transaction. */
  readonly keepsPlans?: boolean;
  /**
   * How long a statement may wait for a lock that another transaction holds; then it fails with an error that
   * `isLockTimeout` recognizes. Default: as long as a statement may take. Needs `keepsPlans`.
   */
  readonly lockTimeoutMs?: number;
}

/** `Tx` is the class of the transactions. */
export interface Database<Tx extends DatabaseTransaction = DatabaseTransaction> extends AsyncDisposable {
  readonly engine: "embedded" | "postgres";
  /**
   * Runs single statements outside a transaction. Do not use it while a transaction is open: the embedded
   * engine has one connection.
   */
  readonly queries: Queries;
  /** Runs `work` in a transaction, at most three times if a retryable error such as 40001 or 40P01 occurs. */
  transaction<Result>(work: TransactionWork<Result, Tx>, options?: TransactionOptions): Promise<Result>;
  /** Returns the same database with transactions made by `create`. */
  withTransactions<Other extends DatabaseTransaction>(create: (props: KyselyProps) => Other): Database<Other>;
  pool(): PoolUsage;
  /**
   * Aborts with a `DamageError` when a page can't be read. From then on every write of this process fails
   * with this error, until it is restarted.
   */
  readonly damaged: AbortSignal;
}
