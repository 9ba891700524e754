/**
 * Runs one exchange: checks the request, sends it within the deadline, and passes the response to a reader.
 */
import type { Agent } from "undici";
import type { FailedRequest, ForbiddenRequest, ResponseHead, WebRequest } from "../../ports/web.ts";
import { type Deadline, withDeadline } from "../../time/deadline.ts";
import { openAnswer } from "../http-client/index.ts";
import { toWebFailure } from "./failures.ts";
import { checkRequestHeaders, readHeaders, writeHeaders } from "./headers.ts";
import { checkUrl, type WebRules } from "./rules.ts";

export interface WebExchange<Result> {
  readonly request: WebRequest;
  readonly rules: WebRules;
  /** Aborts the exchange when the app stops. */
  readonly stopping: AbortSignal;
  open(): Promise<Agent>;
  /** A body that is not read to its end is dropped with its connection. */
  read(response: OpenResponse): Promise<Result>;
}

/** A response whose headers have arrived. */
export interface OpenResponse {
  readonly head: ResponseHead;
  readonly body: AsyncIterable<Uint8Array>;
  elapsedMs(): number;
  toFailure(error: unknown): FailedRequest | ForbiddenRequest;
}

export async function runExchange<Result>(
  exchange: WebExchange<Result>,
): Promise<Result | FailedRequest | ForbiddenRequest> {
  const { request, rules, stopping } = exchange;
  const url = checkUrl(request.url, rules);
  if (!(url instanceof URL)) {
    return url;
  }
  const forbidden = checkRequestHeaders(request.headers ?? {});
  if (forbidden) {
    return forbidden;
  }
  const signals = request.signal ? [stopping, request.signal] : [stopping];
  return withDeadline(request.timeoutMs, signals, (deadline) => requestAndRead(exchange, url, deadline));
}

async function requestAndRead<Result>(exchange: WebExchange<Result>, url: URL, deadline: Deadline) {
  const toFailure = (error: unknown) => toWebFailure(error, url.hostname, deadline);
  const answer = await openAnswer(toHttpRequest(exchange, url), deadline).catch(toFailure);
  if ("outcome" in answer) {
    return answer;
  }
  const { statusCode: status, headers, body } = answer;
  try {
    return await exchange.read({
      head: { status, headers: readHeaders(headers) },
      body,
      elapsedMs: deadline.elapsedMs,
      toFailure,
    });
  } finally {
    body.destroy();
  }
}

function toHttpRequest({ request, open }: Pick<WebExchange<unknown>, "request" | "open">, url: URL) {
  const { method, headers = {}, body } = request;
  return { method, url, headers: writeHeaders(headers), body, open };
}
