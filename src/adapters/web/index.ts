/**
 * The web as undici reaches it, guarded: the one way to addresses that customers gave.
 *
 * An address is judged twice: as it is written, which needs no one, and when it is connected to, where it
 * counts (`connect.ts`). Redirects are answers like any other. One exchange has one deadline.
 */
import { setMaxListeners } from "node:events";
import type { Agent } from "undici";
import type {
  Download,
  IncomingResponse,
  SendRequest,
  Web,
  WebRequest,
  WebResponse,
} from "../../ports/web.ts";
import { checkBodyHeaders, collectBody, limitBody } from "./body.ts";
import { openAgent } from "./connect.ts";
import { type OpenResponse, runExchange } from "./exchange.ts";
import { BodyTooLargeError } from "./failures.ts";
import { resolveHost as askNameServers, type ResolveHost } from "./resolve.ts";
import { checkUrl, type WebRules } from "./rules.ts";

export interface WebOptions {
  readonly rules: WebRules;
  readonly resolve?: ResolveHost;
  /** Certificates to trust in place of the usual ones. */
  readonly ca?: string;
}

export function createWeb({ rules, resolve = askNameServers, ca }: WebOptions): Web & AsyncDisposable {
  const stop = new AbortController();
  const stopping = stop.signal;
  // As many listen as there are exchanges and connections.
  setMaxListeners(0, stopping);
  let made: Promise<Agent> | undefined;
  const open = () => {
    made ??= openAgent({ rules, resolve, ca, stopping });
    return made;
  };
  const parts = { rules, stopping, open };
  return {
    check(url) {
      const checked = checkUrl(url, rules);
      return checked instanceof URL ? undefined : checked;
    },
    send: (request) => runExchange({ ...parts, request, read: (opened) => readWhole(request, opened) }),
    download: (request, take) =>
      runExchange({ ...parts, request, read: (opened) => streamBody(request, opened, take) }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      const agent = await made;
      await agent?.destroy();
    },
  };
}

async function readWhole({ maxBytes, tooLarge }: SendRequest, opened: OpenResponse): Promise<WebResponse> {
  try {
    const collected = await collectBody(opened.body, maxBytes);
    if (collected.isCut && tooLarge === "fail") {
      throw new BodyTooLargeError();
    }
    return { outcome: "answered", ...opened.head, ...collected, ms: opened.elapsedMs() };
  } catch (error) {
    return opened.toFailure(error);
  }
}

async function streamBody<Value>(
  { maxBytes }: WebRequest,
  opened: OpenResponse,
  take: (answer: IncomingResponse) => Promise<Value>,
): Promise<Download<Value>> {
  const { head } = opened;
  let failure: ReturnType<OpenResponse["toFailure"]> | undefined;
  const guardedBody = async function* () {
    try {
      checkBodyHeaders(head.headers, maxBytes);
      yield* limitBody(opened.body, maxBytes);
    } catch (error) {
      failure = opened.toFailure(error);
      throw error;
    }
  };
  try {
    const value = await take({ ...head, body: guardedBody() });
    return failure ?? { outcome: "answered", status: head.status, value, ms: opened.elapsedMs() };
  } catch (error) {
    if (failure) {
      return failure;
    }
    throw error;
  }
}

export { createWebRules } from "./rules.ts";
