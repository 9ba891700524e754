/**
 * A typed client for every operation: `client.call(contacts.get_contact, { id })`. The client sends requests
 * over HTTP, or by another transport.
 *
 * A call has one deadline and is retried within it after 429, 502, 503, 504 and broken connections; writes
 * carry an idempotency key. If the next wait would pass the deadline, the error is thrown at once. Aborting a
 * read is harmless. An aborted write may have been executed: repeat it with the same `idempotencyKey` or not
 * at all.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { InputOf, Operation, OutputOf } from "../../tools/contract/index.ts";
import type { OperationRequest } from "../ports/transport/operation-request.ts";
import { type Deadline, withDeadline } from "../time/deadline.ts";
import { CallFailure, NoResponseError } from "./failure.ts";
import { type FileToSend, takeFile } from "./file.ts";
import { createHttpTransport, type HttpOptions, type Transport } from "./http.ts";
import { requirePathFields } from "./request.ts";
import { readFailure, readResponse } from "./response.ts";
import { timeoutFor, waitMsOf } from "./timeout.ts";

export {
  CallFailure,
  createHttpTransport,
  type FileToSend,
  NoResponseError,
  type Transport,
  timeoutFor,
  waitMsOf,
};

export type ClientOptions = RetryOptions & (HttpOptions | { readonly transport: Transport });

interface RetryOptions {
  /** For the whole call, including retries and waits. */
  readonly timeoutMs?: number;
  /** How many times a call is retried. */
  readonly retries?: number;
  /** The first wait between attempts; it doubles after each attempt. */
  readonly backoffMs?: number;
  /** Waits between attempts. A test replaces this function. */
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
   * @throws CallFailure for an error response, or a response that is not a JSON object.
   * @throws NoResponseError when there was no response.
   * @throws the reason of `signal` when it aborts.
   */
  call<Op extends Operation>(operation: Op, input: InputOf<Op>, options?: CallOptions): Promise<OutputOf<Op>>;
  /** Closes the connections, which fails the calls that are running. */
  close(): Promise<void>;
}

export function createClient(options: ClientOptions): Client {
  const transport = "transport" in options ? options.transport : createHttpTransport(options);
  return {
    async call<Op extends Operation>(operation: Op, input: InputOf<Op>, callOptions: CallOptions = {}) {
      const fields: Readonly<Record<string, unknown>> = { ...input };
      const request = createRequest(operation, fields, callOptions);
      const defaultTimeoutMs = timeoutFor(waitMsOf(operation, fields), 30_000);
      const { timeoutMs = options.timeoutMs ?? defaultTimeoutMs, signal } = callOptions;
      const answer = await withDeadline(timeoutMs, signal ? [signal] : [], (deadline) =>
        callWithRetries({ ...options, ...callOptions, key: callOptions.key, transport, request, deadline }),
      );
      // The type that the operation declares. The response is not parsed, so check it if the service may not
      // be Tidings.
      return answer as OutputOf<Op>;
    },
    close: async () => transport.close?.(),
  };
}

/** @throws CallFailure for a value that can't be a path segment. */
function createRequest(
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  { headers, idempotencyKey, file }: CallOptions,
): OperationRequest {
  const { method, path } = operation;
  requirePathFields({ path, fields: input });
  // All attempts have the same key, so that the call is executed once.
  const key: Record<string, string> =
    method === "GET" ? {} : { "idempotency-key": idempotencyKey ?? randomUUID() };
  return {
    method,
    path,
    headers: { ...headers, accept: "application/json", ...key },
    ...takeFile(operation, input, file),
  };
}

interface PendingCall extends RetryOptions, Pick<CallOptions, "maxRetryWaitMs"> {
  readonly key: string | undefined;
  readonly transport: Transport;
  readonly request: OperationRequest;
  readonly deadline: Deadline;
}

/** Retries until there is a response, an error that is not retryable, or no time left. */
async function callWithRetries(call: PendingCall): Promise<object> {
  const { deadline, retries = 4, backoffMs = 100, maxRetryWaitMs = 10_000, sleep = sleepUntilAborted } = call;
  let mayHaveRun = false;
  for (let number = 0; ; number += 1) {
    try {
      return await attempt(call);
    } catch (error) {
      throwIfAborted(deadline);
      const failure = toFailure(error, deadline);
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

async function attempt({ transport, request, key, deadline }: PendingCall): Promise<object> {
  const answer = await transport.send(request, { key, deadline });
  if (answer.status < 200 || answer.status > 299) {
    throw readFailure(answer);
  }
  return readResponse(answer);
}

function toFailure(error: unknown, deadline: Deadline): CallFailure | NoResponseError {
  return error instanceof CallFailure || error instanceof NoResponseError
    ? error
    : NoResponseError.from(error, { host: "the service", deadline });
}
