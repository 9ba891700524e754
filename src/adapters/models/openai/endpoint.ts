/**
 * Calls of an OpenAI-compatible service: `POST {base}/…` with a key, a time limit, and retries.
 *
 * The operator configures the address, which may be on this machine, so it is not checked like addresses of
 * customers. Redirects are not followed: the key is sent only to the configured host. The time limit covers
 * all attempts and the waits between them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelFailure } from "../../../ports/models/language-model.ts";
import { type Deadline, withDeadline } from "../../../time/deadline.ts";
import { fetchJson, waitAfter } from "../../http-client/index.ts";
import { type Refusal, readModelAnswer, type SettingsPrefix, unreachable, unreadable } from "./answers.ts";
import { type UploadedFile, writeForm } from "./form.ts";

export interface EndpointSettings {
  /** The base URL without a trailing slash, for example `https://api.openai.com/v1`. */
  readonly url: string;
  readonly key: string | undefined;
  readonly model: string;
  /** The limit of a call with all its attempts. */
  readonly timeoutMs: number;
}

export interface Endpoint extends EndpointSettings {
  /** The prefix of the settings, for messages to the operator. */
  readonly prefix: SettingsPrefix;
  /** Waits between attempts. A test replaces this function. */
  readonly wait?: Delay;
}

export type Delay = (ms: number, signal: AbortSignal) => Promise<void>;

export interface EndpointRequest {
  /** The path after the base URL. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** With a file, the body is sent as a form. */
  readonly file?: UploadedFile;
  readonly maxAnswerBytes: number;
  readonly signal: AbortSignal;
}

export type EndpointAnswer =
  | { readonly value: unknown }
  /** `refusal`: the service's error about the request. Used for decisions, never for messages. */
  | { readonly failure: ModelFailure; readonly refusal?: Refusal };

/** The wait after the first attempt, unless the service sets it. */
const firstWaitMs = 500;

/** If a service asks for a longer wait, the failure is returned to the caller. */
const maxWaitMs = 10_000;

/** @throws the reason of the request's signal. */
export async function callEndpoint(endpoint: Endpoint, request: EndpointRequest): Promise<EndpointAnswer> {
  request.signal.throwIfAborted();
  return withDeadline(endpoint.timeoutMs, [request.signal], async (deadline) => {
    try {
      return await repeat(endpoint, request, deadline);
    } catch (error) {
      request.signal.throwIfAborted();
      return { failure: deadline.ended === "timeout" ? timedOut(endpoint) : unreachable(error) };
    }
  });
}

async function repeat(
  endpoint: Endpoint,
  request: EndpointRequest,
  deadline: Deadline,
): Promise<EndpointAnswer> {
  const { wait = waitFor, timeoutMs } = endpoint;
  for (let attempt = 1; ; attempt += 1) {
    const { isTransient, ...answer } = await attemptOnce(endpoint, request, deadline);
    const ownWaitMs = waitAfter(attempt, firstWaitMs);
    if (!isTransient || ownWaitMs === undefined) {
      return answer;
    }
    const asked = "failure" in answer ? answer.failure.retryAfterMs : undefined;
    const waitMs = asked ?? ownWaitMs;
    if (waitMs > Math.min(maxWaitMs, timeoutMs - deadline.elapsedMs())) {
      return answer;
    }
    await wait(waitMs, deadline.signal);
  }
}

/** The answer, and whether another attempt may succeed at once. */
type Attempt = EndpointAnswer & { readonly isTransient: boolean };

async function attemptOnce(
  endpoint: Endpoint,
  request: EndpointRequest,
  deadline: Deadline,
): Promise<Attempt> {
  try {
    return await exchange(endpoint, request, deadline);
  } catch (error) {
    deadline.signal.throwIfAborted();
    return { failure: unreachable(error), isTransient: true };
  }
}

async function exchange(
  { prefix, url, key, model }: Endpoint,
  { path, body, file, maxAnswerBytes: maxBytes }: EndpointRequest,
  deadline: Deadline,
): Promise<Attempt> {
  const headers = {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    "accept-encoding": "identity",
    "user-agent": "tidings",
  };
  const fields = { model, ...body };
  const request = { method: "POST", url: `${url}${path}`, maxBytes } as const;
  const form = file && writeForm(fields, file);
  const answer = await fetchJson(
    form
      ? { ...request, headers: { ...headers, "content-type": form.contentType }, body: form.body }
      : { ...request, headers, json: fields },
    deadline,
  );
  return answer.isTooLong
    ? { failure: unreadable("is too large"), isTransient: false }
    : readModelAnswer(prefix, answer);
}

function timedOut({ prefix, timeoutMs }: Endpoint): ModelFailure {
  const detail = `The model did not answer within ${timeoutMs} ms (${prefix}_TIMEOUT).`;
  return { outcome: "failed", reason: "timeout", detail, isRetryable: true };
}

async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}
