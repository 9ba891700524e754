/** How transactions behave that pieces of work with nothing else in common share. */
import { isOutage } from "../outage/index.ts";
import { NoFreePlaceError } from "./fair-queue.ts";

/**
 * How long a shared transaction waits for a lock: longer than other transactions usually take, but not so
 * long that the wait is noticed as a delay.
 */
export const sharedLockTimeoutMs = 100;

/** Whether a piece of work would meet the same error in a transaction of its own. */
export function recursAlone(error: unknown): boolean {
  return isOutage(error) || error instanceof NoFreePlaceError;
}
