/**
 * Calls any operation over HTTP: `client.call(contacts.get_contact, { id })`.
 *
 * A call has one deadline, within which it is tried again where that is safe: reads, and writes under
 * their idempotency key, after 429, 502, 503, 504 and broken connections. A wait that would pass the
 * deadline is not begun: the failure is answered at once. Aborting a read is harmless; an aborted write
 * may have been done, so repeat it with the same `idempotencyKey` or not at all.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { InputOf, Operation, OutputOf } from "../../tools/contract/index.ts";
import { type Connections, createConnections } from "./connections.ts";
import { type CallDeadline, startCallDeadline, timeoutFor, waitMsOf } from "./deadline.ts";
import { CallFailure, NoResponseError } from "./failure.ts";
import type { FileToSend } from "./multipart.ts";
import { type HttpRequest, writeRequest } from "./request.ts";
import { readFailure, readResponse } from "./response.ts";

export { CallFailure, type FileToSend, NoResponseError, timeoutFor, waitMsOf };

export interface ClientOptions {
  /** Where the service is, or how to learn it: asked again at every attempt. */
  readonly baseUrl: string | (() => Promise<string>);
  /** An API key or an access token, or how to learn it; a call may name another. */
  readonly key?: string | (() => Promise<string | undefined>);
  /** For the whole call, with all its attempts and waits. */
  readonly timeoutMs?: number;
  /** How often a call is tried again. */
  readonly retries?: number;
  /** The first wait between attempts; each one after it is twice as long. */
  readonly backoffMs?: number;
  readonly userAgent?: string;
  /** Waits between attempts; a test replaces it. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export interface CallOptions {
  readonly key?: string;
  /** The name under which a write happens only once; random when left out. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** A service that asks for a longer wait than this is not waited for. */
  readonly maxRetryWaitMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** For an operation that takes one. */
  readonly file?: FileToSend;
}

export interface Client {
  /**
   * @throws CallFailure when the service refuses, or answers what can't be read.
   * @throws Unreachable when no answer came.
   * @throws the signal's reason when `signal` is aborted.
   */
  call<Op extends Operation>(operation: Op, input: InputOf<Op>, options?: CallOptions): Promise<OutputOf<Op>>;
  /** Ends its connections, and with them the calls that are running. */
  close(): Promise<void>;
}

export function createClient(options: ClientOptions): Client {
  const connections = createConnections();
  return {
    async call<Op extends Operation>(operation: Op, input: InputOf<Op>, given: CallOptions = {}) {
      const request = writeRequest(operation, input as Record<string, unknown>, given);
      const defaultTimeoutMs = timeoutFor(waitMsOf(operation, input as Record<string, unknown>), 30_000);
      const deadline = startCallDeadline(
        given.timeoutMs ?? options.timeoutMs ?? defaultTimeoutMs,
        given.signal,
      );
      const key = given.key ?? options.key;
      try {
        const answer = await callWithRetries({ ...options, ...given, key, request, deadline, connections });
        // What the operation declares; a caller who must be sure of a foreign service parses it.
        return answer as OutputOf<Op>;
      } finally {
        deadline.stop();
      }
    },
    close: connections.close,
  };
}

interface PendingCall extends ClientOptions, Pick<CallOptions, "maxRetryWaitMs"> {
  readonly key: ClientOptions["key"];
  readonly request: HttpRequest;
  readonly deadline: CallDeadline;
  readonly connections: Connections;
}

/** Tries until there is an answer, or a failure that another try would not mend or has no time for. */
async function callWithRetries(call: PendingCall): Promise<unknown> {
  const { deadline, retries = 4, backoffMs = 100, maxRetryWaitMs = 10_000, sleep = sleepUntilAborted } = call;
  let mayHaveRun = false;
  for (let number = 0; ; number += 1) {
    try {
      return await attempt(call);
    } catch (error) {
      deadline.throwIfAborted();
      const failure = error instanceof CallFailure ? error : NoResponseError.from(error, deadline);
      mayHaveRun ||= failure.mayHaveRun;
      failure.mayHaveRun = mayHaveRun;
      const waitMs = retryDelayMs(failure, backoffMs * 2 ** number);
      if (
        !failure.isRetryable ||
        number >= retries ||
        waitMs > maxRetryWaitMs ||
        waitMs >= deadline.remainingMs()
      ) {
        throw failure;
      }
      await sleep(waitMs, deadline.signal).catch(() => deadline.throwIfAborted());
    }
  }
}

function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal });
}

function retryDelayMs({ retryAfterSeconds }: CallFailure | NoResponseError, backoffMs: number): number {
  const jitter = 0.5 + Math.random() / 2;
  return retryAfterSeconds === undefined ? backoffMs * jitter : retryAfterSeconds * 1000;
}

async function attempt({
  request,
  baseUrl,
  key,
  userAgent,
  deadline,
  connections,
}: PendingCall): Promise<unknown> {
  const base = new URL(typeof baseUrl === "string" ? baseUrl : await deadline.within(baseUrl()));
  deadline.host = base.host;
  const credential = typeof key === "function" ? await deadline.within(key()) : key;
  const connection = await connections.dispatcherFor(base);
  const { statusCode, headers, body } = await connection.request({
    origin: base.origin,
    // Not resolved against the base: that would swallow a segment made of dots.
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
