/** Time limits of statements, and errors that mean that the database can't be used at the moment. */
import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";

/** In milliseconds; 0 for none. */
interface TimeLimits {
  /** After this time PostgreSQL cancels a statement. */
  readonly statementMs: number;
  /**
   * After this time without a statement PostgreSQL ends the transaction, because other processes wait for the
   * locks of a frozen process.
   */
  readonly idleMs: number;
}

/** The limits of requests and jobs. */
const defaultLimits: TimeLimits = { statementMs: 15_000, idleMs: 15_000 };
const unlimitedStatements: TimeLimits = { ...defaultLimits, statementMs: 0 };
const unlimited: TimeLimits = { statementMs: 0, idleMs: 0 };
/** How much later this process stops waiting, because the server did not even report the cancellation. */
export const answerMarginMs = 3_000;

const limits = new AsyncLocalStorage<TimeLimits>();

/** The limits of the present work, the same object for the same limits. */
export function timeLimits(): TimeLimits {
  return limits.getStore() ?? defaultLimits;
}

/** Runs work whose statements may take as long as they need, such as a migration. */
export function withoutStatementLimit<Result>(work: () => Result): Result {
  return limits.run(unlimitedStatements, work);
}

/**
 * The same for work that may also take its time between two statements of a transaction, such as a backup,
 * which waits for a slow disk or network, or for a processor that derives a key.
 */
export function withoutTimeLimits<Result>(work: () => Result): Result {
  return limits.run(unlimited, work);
}

/** The database did not answer a statement in time. It is unknown whether the statement was executed. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

/**
 * No connection could be made, for any reason. After the start the settings are known to be right, so a
 * server that rejects the user or the database can't be used at the moment.
 */
export class NoConnectionError extends Error {
  override readonly name = "NoConnectionError";

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : "The database can't be reached.", { cause });
  }
}

/** The server accepts no writes, and DATABASE_URL asks for one that does. */
export class ReadOnlyError extends Error {
  override readonly name = "ReadOnlyError";
}

/** Node's codes for a connection that can't be made, or is lost. */
const connectionCodes: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EHOSTDOWN",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT",
]);

/**
 * SQL states, or their classes, of a server that can't do the work at the moment: connections (08), resources
 * such as a full disk (53), shutdown and start (57P), cancelled by a time limit (57014), read-only (25006),
 * input and output (58), and a transaction that it ended because this process sent nothing for too long, as
 * when the process was frozen (25P03).
 */
const outageStates = /^(?:08|53|57P|57014|25006|25P03|58)/;

/** Of these, those of a connection that has ended, and of a server that starts or has become a standby. */
const interruptionStates = /^(?:08|57P0[123]|25006|25P03)/;

/** Messages of `pg` without a code, for a connection that was lost or could not be made. */
const lostConnection =
  /^(?:Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed)/;

/** Whether the same statement may succeed later. */
export function isOutage(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    return outageStates.test(error.code ?? "");
  }
  return error instanceof NoAnswerError || isInterrupted(error);
}

/**
 * Whether the same statement may succeed within seconds, because the connection was refused or lost, or the
 * server is being replaced. It is unknown whether the statement was executed.
 */
export function isInterrupted(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    return interruptionStates.test(error.code ?? "");
  }
  const isConnection = error instanceof Error && "code" in error && connectionCodes.has(error.code);
  return (
    error instanceof NoConnectionError ||
    error instanceof ReadOnlyError ||
    isConnection ||
    (error instanceof Error && lostConnection.test(error.message))
  );
}

/** The SQLSTATE of an error, such as `23505`. Undefined if the error is not from the database. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
