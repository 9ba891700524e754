/** One exchange: judged, asked within its deadline, read by whoever wants it, and ended. */
import type { Agent, Dispatcher } from "undici";
import type { FailedRequest, ForbiddenRequest, ResponseHead, WebRequest } from "../../ports/web.ts";
import { type ExchangeDeadline, startExchangeDeadline } from "./deadline.ts";
import { toWebFailure } from "./failures.ts";
import { checkRequestHeaders, readHeaders, writeHeaders } from "./headers.ts";
import { checkUrl, type WebRules } from "./rules.ts";

export interface Exchange<Result> {
  readonly request: WebRequest;
  readonly rules: WebRules;
  /** Ends it when the house stops. */
  readonly stopping: AbortSignal;
  open(): Promise<Agent>;
  /** Whatever of the answer it leaves unread is dropped, with its connection. */
  read(opened: OpenResponse): Promise<Result>;
}

/** An answer whose headers have come. */
export interface OpenResponse {
  readonly head: ResponseHead;
  readonly body: AsyncIterable<Uint8Array>;
  elapsedMs(): number;
  toFailure(error: unknown): FailedRequest | ForbiddenRequest;
}

export async function runExchange<Result>(
  parts: Exchange<Result>,
): Promise<Result | FailedRequest | ForbiddenRequest> {
  const { request, rules, stopping } = parts;
  const url = checkUrl(request.url, rules);
  if (!(url instanceof URL)) {
    return url;
  }
  const forbidden = checkRequestHeaders(request.headers ?? {});
  if (forbidden) {
    return forbidden;
  }
  const deadline = startExchangeDeadline(request.timeoutMs, [
    stopping,
    ...(request.signal ? [request.signal] : []),
  ]);
  try {
    return await requestAndRead(parts, url, deadline);
  } finally {
    deadline.stop();
  }
}

async function requestAndRead<Result>(parts: Exchange<Result>, url: URL, deadline: ExchangeDeadline) {
  const toFailure = (error: unknown) => toWebFailure(error, url.hostname, deadline);
  const answer = await deadline.within(requestHead(parts, url, deadline.signal)).catch(toFailure);
  if ("outcome" in answer) {
    return answer;
  }
  const { statusCode: status, headers, body } = answer;
  // A failure is told to whoever reads; when nobody does any more, it must not end the process.
  body.on("error", () => undefined);
  try {
    return await parts.read({
      head: { status, headers: readHeaders(headers) },
      body,
      elapsedMs: deadline.elapsedMs,
      toFailure: toFailure,
    });
  } finally {
    body.destroy();
  }
}

async function requestHead(
  { request, open }: Pick<Exchange<unknown>, "request" | "open">,
  url: URL,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const agent = await open();
  return agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: request.method,
    headers: writeHeaders(request.headers ?? {}),
    body: request.body ?? null,
    signal,
  });
}
