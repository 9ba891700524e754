/**
 * The port to the web: HTTP requests to URLs that customers configure.
 *
 * Failures of the other side are returned as outcomes, never thrown. Called outside any transaction.
 */

export type WebMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface WebRequest {
  readonly method: WebMethod;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For the whole exchange: DNS lookup, waiting for a connection, connecting, headers, body. */
  readonly timeoutMs: number;
  /** The limit of the response body in bytes, as received. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export interface SendRequest extends WebRequest {
  /** A body longer than `maxBytes` is truncated, or fails the request. */
  readonly tooLarge: "cut" | "fail";
}

/** The URL is not allowed: no connection was made, and a retry is useless until the URL changes. */
export interface ForbiddenRequest {
  readonly outcome: "forbidden";
  readonly reason: "url" | "scheme" | "credentials" | "port" | "address" | "header";
  /** A sentence for the customer; it does not disclose the address that a host name resolves to. */
  readonly detail: string;
}

export interface FailedRequest {
  readonly outcome: "failed";
  readonly reason:
    | "timeout"
    | "unresolved"
    | "refused"
    | "unreachable"
    | "tls"
    | "reset"
    | "malformed"
    | "too_large"
    /** By the caller's signal, or because the service is stopping. */
    | "aborted"
    | "other";
  readonly detail: string;
  readonly ms: number;
}

export interface ResponseHead {
  /** Any status, including redirects, which are never followed. */
  readonly status: number;
  /** By lower-case name; repeated headers are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
}

export type WebResponse =
  | (ResponseHead & {
      readonly outcome: "answered";
      /** As received: compression is neither requested nor decoded. */
      readonly body: Uint8Array;
      /** Whether the body was longer than `maxBytes`. */
      readonly isCut: boolean;
      readonly ms: number;
    })
  | ForbiddenRequest
  | FailedRequest;

/** A response whose body is still being received. The body throws if it breaks, times out or exceeds `maxBytes`. */
export interface IncomingResponse extends ResponseHead {
  readonly body: AsyncIterable<Uint8Array>;
}

export type Download<Value> =
  | { readonly outcome: "answered"; readonly status: number; readonly value: Value; readonly ms: number }
  | ForbiddenRequest
  | FailedRequest;

export interface Web {
  /** Checks a URL without a DNS lookup, and headers; undefined if they are allowed. */
  check(url: string, headers?: WebRequest["headers"]): ForbiddenRequest | undefined;
  send(request: SendRequest): Promise<WebResponse>;
  /**
   * Passes the response to `read` while it is received, and returns `read`'s value. The unread rest is discarded.
   * If the body breaks, the outcome is `failed` whatever `read` returns. @throws the errors of `read`.
   */
  download<Value>(
    request: WebRequest,
    read: (response: IncomingResponse) => Promise<Value>,
  ): Promise<Download<Value>>;
}
