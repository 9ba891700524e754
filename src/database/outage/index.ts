/** Outages of the database: their errors, time limits, and requests that wait for the end; and damage. */
export { DamageError, isDamage } from "./damage.ts";
export {
  answerMarginMs,
  isInterrupted,
  isOutage,
  NoAnswerError,
  NoConnectionError,
  ReadOnlyError,
  sqlState,
  timeLimits,
  withoutStatementLimit,
  withoutTimeLimits,
} from "./errors.ts";
export { createHold, type RequestHold } from "./hold.ts";
