/**
 * What the house needs of the web: reaching the addresses that customers gave, and no others.
 *
 * Nothing here throws for what the other side does; outcomes are values. Called outside any transaction.
 */

export type HttpMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface WebRequest {
  readonly method: HttpMethod;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For the whole exchange: look-up, waiting for a connection, connecting, headers, body. */
  readonly timeoutMs: number;
  /** Of the answer's body, in bytes as they come. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export interface SendRequest extends WebRequest {
  /** What is done with a body that is longer than `maxBytes`: its beginning is kept, or it is a failure. */
  readonly tooLarge: "cut" | "refuse";
}

/** The address may not be reached: nothing was connected, and trying again is of no use before it changes. */
export interface ForbiddenRequest {
  readonly outcome: "forbidden";
  readonly reason: "url" | "scheme" | "credentials" | "port" | "address" | "header";
  /** A sentence for whoever gave the address; it tells nothing of what a name leads to. */
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
    /** The caller's signal, or the house is stopping. */
    | "aborted"
    | "other";
  readonly detail: string;
  readonly ms: number;
}

export interface ResponseHead {
  /** Any status, a redirect's too: it is told and never followed. */
  readonly status: number;
  /** Names in lower case; one that came several times is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
}

export type WebResponse =
  | (ResponseHead & {
      readonly outcome: "answered";
      /** As it came: compression is neither asked for nor undone. */
      readonly body: Uint8Array;
      /** Whether there was more than `maxBytes`. */
      readonly isCut: boolean;
      readonly ms: number;
    })
  | ForbiddenRequest
  | FailedRequest;

/** An answer whose body is still coming. It throws when it breaks, is late or passes `maxBytes`. */
export interface IncomingResponse extends ResponseHead {
  readonly body: AsyncIterable<Uint8Array>;
}

export type Download<Value> =
  | { readonly outcome: "answered"; readonly status: number; readonly value: Value; readonly ms: number }
  | ForbiddenRequest
  | FailedRequest;

export interface Web {
  /** Whether an address may be given at all, as far as it can be told without a look-up; undefined: it may. */
  check(url: string): ForbiddenRequest | undefined;
  send(request: SendRequest): Promise<WebResponse>;
  /**
   * Hands the answer to `take` as it comes, and its value back. What `take` leaves unread is dropped; a
   * body that broke is a failure, whatever `take` made of it. @throws what `take` throws of its own.
   */
  download<Value>(
    request: WebRequest,
    take: (answer: IncomingResponse) => Promise<Value>,
  ): Promise<Download<Value>>;
}
