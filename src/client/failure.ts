/** How a call fails: the service refused it, or no answer came. */
import { STATUS_CODES } from "node:http";
import type { ErrorBody } from "../../tools/contract/index.ts";
import type { Deadline } from "./deadline.ts";

export type ErrorFacts = ErrorBody["error"];

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly error?: ErrorFacts | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** The service's refusal. */
export class CallFailure extends Error {
  readonly status: number;
  readonly code: string;
  /** The body's error, where it is in our own envelope. */
  readonly error: ErrorFacts | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Whether the call may have taken effect all the same. */
  mayHaveRun: boolean;

  constructor({ status, code, message, error, requestId, retryAfterSeconds }: Refusal) {
    super(message);
    this.name = "CallFailure";
    this.status = status;
    this.code = code;
    this.error = error;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
    // A service that says in our own words that it failed has undone what it began.
    this.mayHaveRun = error === undefined && (status >= 500 || status < 300);
  }

  /** All that can be said of a refusal of which nothing but the status is known. */
  static sentenceOf(status: number): string {
    return `The service answered ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd().concat(".");
  }

  /** Whether the same call may succeed later. */
  get isPassing(): boolean {
    const isRunning =
      this.status === 409 && this.code.startsWith("idempotency") && this.retryAfterSeconds !== undefined;
    return isRunning || [429, 502, 503, 504].includes(this.status);
  }
}

/** No answer came. */
export class Unreachable extends Error {
  readonly code: "unreachable" | "timeout";
  readonly isPassing: boolean;
  readonly retryAfterSeconds = undefined;
  /** Whether the call may have taken effect all the same. */
  mayHaveRun: boolean;

  private constructor(message: string, kind: Kind, cause: unknown) {
    super(message, { cause });
    this.name = "Unreachable";
    this.code = kind.code ?? "unreachable";
    this.isPassing = kind.isPassing;
    this.mayHaveRun = kind.mayHaveRun;
  }

  static from(error: unknown, { host, signal, timeoutMs }: Deadline): Unreachable {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const kind = signal.aborted ? late : (kinds[code] ?? other);
    return new Unreachable(kind.sentence(host, timeoutMs), kind, error);
  }
}

interface Kind {
  readonly code?: "timeout";
  readonly isPassing: boolean;
  readonly mayHaveRun: boolean;
  sentence(host: string, timeoutMs: number): string;
}

const late: Kind = {
  code: "timeout",
  isPassing: false,
  mayHaveRun: true,
  sentence: (host, timeoutMs) => `${host} did not answer within ${timeoutMs / 1000} s.`,
};
const away: Kind = { isPassing: true, mayHaveRun: false, sentence: (host) => `${host} can't be reached.` };
const unknown: Kind = { ...away, isPassing: false, sentence: (host) => `There is no host ${host}.` };
const broken: Kind = {
  isPassing: true,
  mayHaveRun: true,
  sentence: (host) => `The connection to ${host} broke before an answer came.`,
};
const large: Kind = { ...broken, isPassing: false, sentence: (host) => `${host} answered more than 20 MB.` };
const other: Kind = { ...broken, isPassing: false, sentence: (host) => `The call to ${host} failed.` };

const kinds: Readonly<Record<string, Kind>> = {
  ECONNREFUSED: away,
  EHOSTUNREACH: away,
  ENETUNREACH: away,
  EAI_AGAIN: away,
  UND_ERR_CONNECT_TIMEOUT: away,
  ENOTFOUND: unknown,
  ECONNRESET: broken,
  EPIPE: broken,
  ETIMEDOUT: broken,
  UND_ERR_SOCKET: broken,
  UND_ERR_RES_EXCEEDED_MAX_SIZE: large,
};
