/**
 * A typed HTTP client for every operation: `client.call(contacts.get_contact, { id })`.
 *
 * A call has one deadline and is retried within it after 429, 502, 503, 504 and broken connections; writes
 * carry an idempotency key. If the next wait would pass the deadline, the error is thrown at once. Aborting a
 * read is harmless. An aborted write may have been executed: repeat it with the same `idempotencyKey` or not
 * at all.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { InputOf, Operation, OutputOf } from "../../tools/contract/index.ts";
import { type Deadline, withDeadline } from "../time/deadline.ts";
import { type Connections, createConnections } from "./connections.ts";
import { CallFailure, NoResponseError } from "./failure.ts";
import type { FileToSend } from "./multipart.ts";
import { type HttpRequest, writeRequest } from "./request.ts";
import { readFailure, readResponse } from "./response.ts";
import { timeoutFor, waitMsOf } from "./timeout.ts";

export { CallFailure, type FileToSend, NoResponseError, timeoutFor, waitMsOf };

export interface ClientOptions {
  /** The address of the service, or a function that finds it: called at every attempt. */
  readonly baseUrl: string | (() => Promise<string>);
  /** An API key or access token, or a function that finds it; a call may override it. */
  readonly key?: string | (() => Promise<string | undefined>);
  /** For the whole call, including retries and waits. */
  readonly timeoutMs?: number;
  /** How many times a call is retried. */
  readonly retries?: number;
  /** The first wait between attempts; it doubles after each attempt. */
  readonly backoffMs?: number;
  readonly userAgent?: string;
  /** Never through the environment's proxy: the service is on this machine. */
  readonly isDirect?: boolean;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Waits between attempts; a test replaces it. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export interface CallOptions {
  readonly key?: string;
  /** A write with the same key is executed only once; random by default. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** If the service asks for a longer wait, the error is thrown at once. */
  readonly maxRetryWaitMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** For an operation that takes a file. */
  readonly file?: FileToSend;
}

export interface Client {
  /**
   * @throws CallFailure for an error response, or one that is not a JSON object.
   * @throws NoResponseError when there was no response.
   * @throws the reason of `signal` when it aborts.
   */
  call<Op extends Operation>(operation: Op, input: InputOf<Op>, options?: CallOptions): Promise<OutputOf<Op>>;
  /** Closes the connections, which fails the calls that are running. */
  close(): Promise<void>;
}

export function createClient(options: ClientOptions): Client {
  const connections = createConnections(options.isDirect);
  return {
    async call<Op extends Operation>(operation: Op, input: InputOf<Op>, callOptions: CallOptions = {}) {
      const fields: Readonly<Record<string, unknown>> = { ...input };
      const headers = { ...options.headers, ...callOptions.headers };
      const request = writeRequest(operation, fields, { ...callOptions, headers });
      const defaultTimeoutMs = timeoutFor(waitMsOf(operation, fields), 30_000);
      const { timeoutMs = options.timeoutMs ?? defaultTimeoutMs, signal } = callOptions;
      const key = callOptions.key ?? options.key;
      const answer = await withDeadline(timeoutMs, signal ? [signal] : [], (deadline) =>
        callWithRetries({
          ...options,
          ...callOptions,
          key,
          request,
          deadline,
          connections,
          host: "the service",
        }),
      );
      // As the operation declares; not parsed, so check the response of a service that is not Tidings.
      return answer as OutputOf<Op>;
    },
    close: connections.close,
  };
}

interface PendingCall extends ClientOptions, Pick<CallOptions, "maxRetryWaitMs"> {
  readonly key: ClientOptions["key"];
  readonly request: HttpRequest;
  readonly deadline: Deadline;
  readonly connections: Connections;
  /** Named in the error message when there is no response. */
  host: string;
}

/** Retries until there is a response, an error that is not retryable, or no time left. */
async function callWithRetries(call: PendingCall): Promise<unknown> {
  const { deadline, retries = 4, backoffMs = 100, maxRetryWaitMs = 10_000, sleep = sleepUntilAborted } = call;
  let mayHaveRun = false;
  for (let number = 0; ; number += 1) {
    try {
      return await attempt(call);
    } catch (error) {
      throwIfAborted(deadline);
      const failure = error instanceof CallFailure ? error : NoResponseError.from(error, call);
      mayHaveRun ||= failure.mayHaveRun;
      failure.mayHaveRun = mayHaveRun;
      const waitMs = retryDelayMs(failure, backoffMs * 2 ** number);
      const isInProgress = failure instanceof CallFailure && failure.isInProgress;
      if (
        !failure.isRetryable ||
        (number >= retries && !isInProgress) ||
        waitMs > maxRetryWaitMs ||
        waitMs >= deadline.remainingMs()
      ) {
        throw failure;
      }
      await sleep(waitMs, deadline.signal).catch(() => throwIfAborted(deadline));
    }
  }
}

/** Throws the caller's reason if the caller aborted. */
function throwIfAborted({ ended, signal }: Deadline): void {
  if (ended === "aborted") {
    signal.throwIfAborted();
  }
}

function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal });
}

function retryDelayMs({ retryAfterSeconds }: CallFailure | NoResponseError, backoffMs: number): number {
  const jitter = 0.5 + Math.random() / 2;
  return retryAfterSeconds === undefined ? backoffMs * jitter : retryAfterSeconds * 1000;
}

async function attempt(call: PendingCall): Promise<unknown> {
  const { request, baseUrl, key, userAgent, deadline, connections } = call;
  const base = new URL(typeof baseUrl === "string" ? baseUrl : await deadline.within(baseUrl()));
  call.host = base.host;
  const credential = typeof key === "function" ? await deadline.within(key()) : key;
  const connection = await connections.dispatcherFor(base);
  const { statusCode, headers, body } = await connection.request({
    origin: base.origin,
    // Not resolved against the base, which would drop dot segments.
    path: base.pathname.replace(/\/+$/, "") + request.path,
    method: request.method,
    headers: { ...request.headers, ...credentialHeaders(credential, userAgent) },
    body: typeof request.body === "function" ? request.body() : request.body,
    signal: deadline.signal,
  });
  const answer = { status: statusCode, headers, text: await body.text() };
  if (statusCode < 200 || statusCode > 299) {
    throw readFailure(answer);
  }
  return readResponse(answer);
}

function credentialHeaders(key: string | undefined, userAgent = "tidings"): Record<string, string> {
  const credential = key?.trim();
  if (!credential) {
    return { "user-agent": userAgent };
  }
  return credential.startsWith("sk_")
    ? { "user-agent": userAgent, "x-api-key": credential }
    : { "user-agent": userAgent, authorization: `Bearer ${credential}` };
}
