/** Converts errors of a database that was too slow, not available or damaged to failures. */
import { fail } from "../../../../../tools/errors.ts";
import { DamageError, isOutage } from "../../../../database/outage/index.ts";
import { ReadTimeoutError } from "../../../../database/query/index.ts";
import { NoFreePlaceError } from "../../../../database/sharing/index.ts";

/** Throws the failure for an error of a call. Rethrows any other error unchanged. */
export function throwDatabaseFailure(error: unknown): never {
  if (error instanceof NoFreePlaceError) {
    throw fail("unavailable", { reason: "the database is busy.", retry_after: 1 }, error);
  }
  if (error instanceof ReadTimeoutError) {
    throw fail("query_too_slow", {}, error);
  }
  if (error instanceof DamageError) {
    throw fail("database_damaged", {}, error);
  }
  if (isOutage(error)) {
    throw fail("unavailable", { reason: "the database can't be used at the moment.", retry_after: 2 }, error);
  }
  throw error;
}
