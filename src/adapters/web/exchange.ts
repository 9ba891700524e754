/** One exchange: judged, asked within its deadline, read by whoever wants it, and ended. */
import type { Agent, Dispatcher } from "undici";
import type { AnswerHead, Failed, Forbidden, WebRequest } from "../../ports/web.ts";
import { type Deadline, startDeadline } from "./deadline.ts";
import { explain } from "./failures.ts";
import { judgeHeaders, readHeaders, writeHeaders } from "./headers.ts";
import { judge, type Rules } from "./rules.ts";

export interface Exchange<Result> {
  readonly request: WebRequest;
  readonly rules: Rules;
  /** Ends it when the house stops. */
  readonly stopping: AbortSignal;
  open(): Promise<Agent>;
  /** Whatever of the answer it leaves unread is dropped, with its connection. */
  read(opened: Opened): Promise<Result>;
}

/** An answer whose headers have come. */
export interface Opened {
  readonly head: AnswerHead;
  readonly body: AsyncIterable<Uint8Array>;
  elapsedMs(): number;
  explain(error: unknown): Failed | Forbidden;
}

export async function exchange<Result>(parts: Exchange<Result>): Promise<Result | Failed | Forbidden> {
  const { request, rules, stopping } = parts;
  const url = judge(request.url, rules);
  if (!(url instanceof URL)) {
    return url;
  }
  const refusal = judgeHeaders(request.headers ?? {});
  if (refusal) {
    return refusal;
  }
  const deadline = startDeadline(request.timeoutMs, [stopping, ...(request.signal ? [request.signal] : [])]);
  try {
    return await askAndRead(parts, url, deadline);
  } finally {
    deadline.stop();
  }
}

async function askAndRead<Result>(parts: Exchange<Result>, url: URL, deadline: Deadline) {
  const explainHere = (error: unknown) => explain(error, url.hostname, deadline);
  const answer = await deadline.within(ask(parts, url, deadline.signal)).catch(explainHere);
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
      explain: explainHere,
    });
  } finally {
    body.destroy();
  }
}

async function ask(
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
