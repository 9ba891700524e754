/** An error in words for the person at the page. */
import { texts } from "../texts.ts";
import { ConnectionError, ServiceError } from "./errors.ts";

/** The text for the error's code; without one, the service's own sentence. */
export function describeError(error: unknown): string {
  if (error instanceof ConnectionError) {
    return texts.errors.connection;
  }
  if (error instanceof ServiceError) {
    return texts.errors.codes[error.code] ?? error.message;
  }
  return texts.errors.unknown;
}
