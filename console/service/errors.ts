/** The two ways in which a call can end without an answer. */

/**
 * The service answered with an error. `code` is the error's code, `message` says what to do instead, and
 * `facts` are the members of the error that the code describes.
 */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: string;
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, message: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = "ServiceError";
    this.status = status;
    this.code = code;
    this.facts = facts;
  }
}

/** No answer arrived: the call may have taken effect nevertheless. */
export class ConnectionError extends Error {
  constructor(cause: unknown) {
    super("No connection to the service.", { cause });
    this.name = "ConnectionError";
  }
}

/** Whether the same call may succeed later: no answer, too many requests, or a service that is not ready. */
export function isTemporary(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    (error instanceof ServiceError && (error.status === 429 || error.status === 503 || error.status === 502))
  );
}
