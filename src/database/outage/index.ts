/** Outages of the database: the errors that mean one, time limits, and requests that wait for its end; and damage. */
export { DamageError, isDamage } from "./damage.ts";
export {
  answerMarginMs,
  isInterrupted,
  isOutage,
  NoAnswerError,
  NoConnectionError,
  ReadOnlyError,
  sqlState,
  statementLimitMs,
  withoutStatementLimit,
} from "./errors.ts";
export { createHold, type RequestHold } from "./hold.ts";
