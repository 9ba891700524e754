/**
 * Calls of an OpenAI-compatible service: `POST {base}/…` with a key, a time limit, and retries.
 *
 * The address is the operator's and may be on this machine, so it is not checked like those of customers. Redirects are
 * not followed: the key goes to the configured host alone. The time limit covers all attempts and the waits between
 * them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelFailure } from "../../../ports/models/language-model.ts";
import { type Deadline, withDeadline } from "../../../time/deadline.ts";
import { fetchJson, waitAfter } from "../../http-client/index.ts";
import { type Refusal, readAnswer, type SettingsPrefix, unreachable, unreadable } from "./answers.ts";

export interface EndpointSettings {
  /** The base URL, for example `https://api.openai.com/v1`, without a slash at its end. */
  readonly url: string;
  readonly key: string | undefined;
  readonly model: string;
  /** For a call with all its attempts. */
  readonly timeoutMs: number;
}

export interface Endpoint extends EndpointSettings {
  /** The prefix of the settings, for messages to the operator. */
  readonly prefix: SettingsPrefix;
  /** Waits between attempts; a test replaces it. */
  readonly wait?: Wait;
}

export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export interface EndpointRequest {
  /** After the base URL. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly maxAnswerBytes: number;
  readonly signal: AbortSignal;
}

export type EndpointAnswer =
  | { readonly value: unknown }
  /** `refusal`: what the service says about the request; for decisions, never for messages. */
  | { readonly failure: ModelFailure; readonly refusal?: Refusal };

/** After the first attempt at a request, unless the service says how long. */
const firstWaitMs = 500;

/** Waits that a service asks for and that are longer are left to the caller. */
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

/** The answer, and whether another attempt may have a better one at once. */
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
  { path, body, maxAnswerBytes: maxBytes }: EndpointRequest,
  deadline: Deadline,
): Promise<Attempt> {
  const headers = {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    "accept-encoding": "identity",
    "user-agent": "tidings",
  };
  const json = { model, ...body };
  const request = { method: "POST", url: `${url}${path}`, headers, json, maxBytes } as const;
  const answer = await fetchJson(request, deadline);
  return answer.isTooLong
    ? { failure: unreadable("is too large"), isTransient: false }
    : readAnswer(prefix, answer);
}

function timedOut({ prefix, timeoutMs }: Endpoint): ModelFailure {
  const detail = `The model did not answer within ${timeoutMs} ms (${prefix}_TIMEOUT).`;
  return { outcome: "failed", reason: "timeout", detail, isRetryable: true };
}

async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}
