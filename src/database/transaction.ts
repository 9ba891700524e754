/**
 * Transactions whose statements can be sent together.
 *
 * A statement is sent when it is executed, without waiting for the answers to earlier statements; PostgreSQL
 * runs them in this order. So statements that do not need each other's results cost one wait, and BEGIN costs
 * none. When a statement fails, PostgreSQL rejects the rest of the transaction and answers COMMIT with
 * ROLLBACK.
 */
import { CompiledQuery, type KyselyProps, sql } from "kysely";
import type { DatabaseTransaction, TransactionOptions, TransactionWork } from "./database.ts";
import { sqlState } from "./outage/index.ts";

const begin = CompiledQuery.raw("begin");
const commit = CompiledQuery.raw("commit");
const rollback = CompiledQuery.raw("rollback");

/** The parts with which a transaction is opened. */
export interface TransactionOpening<Tx extends DatabaseTransaction> {
  readonly props: KyselyProps;
  create(props: KyselyProps): Tx;
  readonly options: TransactionOptions;
}

/** Runs `work` in a transaction, once. */
export async function runTransaction<Tx extends DatabaseTransaction, Result>(
  { props, create, options: { keepsPlans = false, lockTimeoutMs } }: TransactionOpening<Tx>,
  work: TransactionWork<Result, Tx>,
): Promise<{ readonly tx: Tx; readonly result: Result }> {
  return props.executor.provideConnection(async (connection) => {
    let isEnded = false;
    const executor = props.executor.withConnectionProvider({
      async provideConnection(use) {
        if (isEnded) {
          throw new Error("The transaction has ended: a statement of it was not awaited.");
        }
        return use(connection);
      },
    });
    const tx = create({ ...props, executor });
    const begun = together(connection.executeQuery(begin), keepsPlans && keepPlans(tx, lockTimeoutMs));
    // If BEGIN fails, every later statement fails too, and the error is reported with the COMMIT at the
    // latest.
    begun.catch(() => undefined);
    try {
      const result = await work(tx);
      await tx.runBeforeCommit();
      const endings = tx.sendEndings();
      isEnded = true;
      await together(begun, ...endings, connection.executeQuery(commit));
      return { tx, result };
    } catch (error) {
      isEnded = true;
      await connection.executeQuery(rollback);
      throw error;
    }
  });
}

/** Whether a statement waited too long for a lock (`lockTimeoutMs`). */
export const isLockTimeout = (error: unknown) => sqlState(error) === "55P03";

/** Whether a statement was rejected because an earlier statement of its transaction had failed. */
const isAborted = (error: unknown) => sqlState(error) === "25P02";

/**
 * Waits for several pieces of work in one transaction, whose statements are sent together. No work is still
 * running afterwards.
 * @throws the error of the statement that failed first.
 */
export async function together<Work extends readonly unknown[]>(
  ...work: Work
): Promise<{ -readonly [Index in keyof Work]: Awaited<Work[Index]> }> {
  const settled = await Promise.allSettled(work);
  const errors = settled.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  if (errors.length > 0) {
    throw errors.find((error) => !isAborted(error)) ?? errors[0];
  }
  return Promise.all(work);
}

/**
 * From now on, statements of this transaction keep one plan per connection, which uses indexes whatever the
 * size of the tables. Only for transactions that find and change few rows by key. Planning every execution
 * would take as long as running such a statement, and compiling, which PostgreSQL may do for a large table, a
 * hundred times as long.
 */
export async function keepPlans(tx: DatabaseTransaction, lockTimeoutMs?: number): Promise<void> {
  const lockTimeout =
    lockTimeoutMs === undefined ? sql`` : sql`, set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`;
  await sql`
    select set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
      set_config('jit', 'off', true)${lockTimeout}
  `.execute(tx);
}
