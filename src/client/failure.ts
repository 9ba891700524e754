/** The errors of a call: an error response, or no response. */
import { STATUS_CODES } from "node:http";
import type { ErrorBody } from "../../tools/contract/index.ts";
import type { Deadline } from "../time/deadline.ts";

export type ErrorFields = ErrorBody["error"];

interface CallFailureDetails {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly error?: ErrorFields | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** The service answered with an error. */
export class CallFailure extends Error {
  readonly status: number;
  readonly code: string;
  /** The error in the body, if the body is our envelope. */
  readonly error: ErrorFields | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Whether the call may have taken effect nevertheless. */
  mayHaveRun: boolean;

  constructor({ status, code, message, error, requestId, retryAfterSeconds }: CallFailureDetails) {
    super(message);
    this.name = "CallFailure";
    this.status = status;
    this.code = code;
    this.error = error;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
    // A service whose response has our envelope has rolled the call back.
    this.mayHaveRun = error === undefined && (status >= 500 || status < 300);
  }

  /** The message for an error without a known body. */
  static messageForStatus(status: number): string {
    return `The service answered ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd().concat(".");
  }

  /** Whether an earlier call with the same idempotency key is still running. */
  get isInProgress(): boolean {
    return this.status === 409 && this.retryAfterSeconds !== undefined;
  }

  /** Whether the same call may succeed later. */
  get isRetryable(): boolean {
    return this.isInProgress || [429, 502, 503, 504].includes(this.status);
  }
}

/** There was no response. */
export class NoResponseError extends Error {
  readonly code: "unreachable" | "timeout";
  readonly isRetryable: boolean;
  /**
   * Whether the service, or the network to it, is away. False: the call can't be made, for example because of
   * an unknown certificate or an error in this process.
   */
  readonly isOutage: boolean;
  readonly retryAfterSeconds = undefined;
  /** Whether the call may have taken effect nevertheless. */
  mayHaveRun: boolean;

  private constructor(message: string, kind: NoResponseKind, cause: unknown) {
    super(message, { cause });
    this.name = "NoResponseError";
    this.code = kind.code ?? "unreachable";
    this.isRetryable = kind.isRetryable;
    this.isOutage = kind.isOutage;
    this.mayHaveRun = kind.mayHaveRun;
  }

  static from(
    error: unknown,
    { host, deadline: { signal, timeoutMs } }: { readonly host: string; readonly deadline: Deadline },
  ): NoResponseError {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const kind = signal.aborted ? timedOut : (kinds[code] ?? otherError);
    return new NoResponseError(kind.message(host, timeoutMs), kind, error);
  }
}

interface NoResponseKind {
  readonly code?: "timeout";
  readonly isRetryable: boolean;
  readonly isOutage: boolean;
  readonly mayHaveRun: boolean;
  message(host: string, timeoutMs: number): string;
}

const timedOut: NoResponseKind = {
  code: "timeout",
  isRetryable: false,
  isOutage: true,
  mayHaveRun: true,
  message: (host, timeoutMs) => `${host} did not answer within ${timeoutMs / 1000} s.`,
};
const unreachable: NoResponseKind = {
  isRetryable: true,
  isOutage: true,
  mayHaveRun: false,
  message: (host) => `${host} can't be reached.`,
};
const unknownHost: NoResponseKind = {
  ...unreachable,
  isRetryable: false,
  message: (host) => `There is no host ${host}.`,
};
const connectionBroken: NoResponseKind = {
  isRetryable: true,
  isOutage: true,
  mayHaveRun: true,
  message: (host) => `The connection to ${host} broke before it answered.`,
};
const responseTooLarge: NoResponseKind = {
  ...connectionBroken,
  isRetryable: false,
  isOutage: false,
  message: (host) => `${host} answered more than 20 MB.`,
};
const otherError: NoResponseKind = {
  ...connectionBroken,
  isRetryable: false,
  isOutage: false,
  message: (host) => `The call to ${host} failed.`,
};

const kinds: Readonly<Record<string, NoResponseKind>> = {
  ECONNREFUSED: unreachable,
  EHOSTUNREACH: unreachable,
  EHOSTDOWN: unreachable,
  ENETDOWN: unreachable,
  ENETUNREACH: unreachable,
  EAI_AGAIN: unreachable,
  UND_ERR_CONNECT_TIMEOUT: unreachable,
  ENOTFOUND: unknownHost,
  ECONNRESET: connectionBroken,
  EPIPE: connectionBroken,
  ETIMEDOUT: connectionBroken,
  UND_ERR_SOCKET: connectionBroken,
  UND_ERR_RES_EXCEEDED_MAX_SIZE: responseTooLarge,
};
