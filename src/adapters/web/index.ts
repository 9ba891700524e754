/**
 * Guarded web requests with undici: the only way to reach URLs of customers.
 *
 * A URL is checked twice: as a text, without a look-up, and by its address when connecting, which is the
 * decisive check (`connect.ts`). Redirects are not followed. One exchange has one deadline.
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
import { collectBytes, limitBytes } from "../../streams/bytes.ts";
import { openAgent } from "./connect.ts";
import { type OpenResponse, runExchange } from "./exchange.ts";
import { BodyTooLargeError } from "./failures.ts";
import { checkBodyHeaders, checkRequestHeaders } from "./headers.ts";
import { type ResolveHost, resolveHost } from "./resolve.ts";
import { checkUrl, createWebRules, type WebRules } from "./rules.ts";

export interface WebOptions {
  readonly rules: WebRules;
  readonly resolve?: ResolveHost;
  /** PEM certificates to trust instead of the default ones. */
  readonly ca?: string;
}

export function createWeb({ rules, resolve = resolveHost, ca }: WebOptions): Web & AsyncDisposable {
  const stop = new AbortController();
  const stopping = stop.signal;
  // Each exchange and each connection adds a listener.
  setMaxListeners(0, stopping);
  let opening: Promise<Agent> | undefined;
  const open = () => {
    opening ??= openAgent({ rules, resolve, ca, stopping });
    return opening;
  };
  const parts = { rules, stopping, open };
  return {
    check(url, headers = {}) {
      const checked = checkUrl(url, rules);
      return checked instanceof URL ? checkRequestHeaders(headers) : checked;
    },
    send: (request) => runExchange({ ...parts, request, read: (response) => readWhole(request, response) }),
    download: (request, consume) =>
      runExchange({ ...parts, request, read: (response) => streamBody(request, response, consume) }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      const agent = await opening;
      await agent?.destroy();
    },
  };
}

/** The port for addresses that customers provide, and the port for the receivers of their webhooks. */
export function createWebs({ allow, areLocalSourcesAllowed, areLocalReceiversAllowed }: WebsSettings) {
  const create = (isLocalAllowed: boolean) => createWeb({ rules: createWebRules({ allow, isLocalAllowed }) });
  const [web, receivers] = [create(areLocalSourcesAllowed), create(areLocalReceiversAllowed)];
  const closeWebs = () => Promise.all([web[Symbol.asyncDispose](), receivers[Symbol.asyncDispose]()]);
  return { web, receivers, closeWebs };
}

interface WebsSettings {
  /** The same as in `WebSettings`. */
  readonly allow: readonly string[];
  readonly areLocalSourcesAllowed: boolean;
  readonly areLocalReceiversAllowed: boolean;
}

async function readWhole({ maxBytes, tooLarge }: SendRequest, response: OpenResponse): Promise<WebResponse> {
  try {
    const { bytes, isCut } = await collectBytes(response.body, maxBytes);
    if (isCut && tooLarge === "fail") {
      throw new BodyTooLargeError();
    }
    return { outcome: "answered", ...response.head, body: bytes, isCut, ms: response.elapsedMs() };
  } catch (error) {
    return response.toFailure(error);
  }
}

async function streamBody<Value>(
  { maxBytes }: WebRequest,
  response: OpenResponse,
  consume: (response: IncomingResponse) => Promise<Value>,
): Promise<Download<Value>> {
  const { head } = response;
  let failure: ReturnType<OpenResponse["toFailure"]> | undefined;
  const guardedBody = async function* () {
    try {
      checkBodyHeaders(head.headers, maxBytes);
      yield* limitBytes(response.body, maxBytes, () => new BodyTooLargeError());
    } catch (error) {
      failure = response.toFailure(error);
      throw error;
    }
  };
  try {
    const value = await consume({ ...head, body: guardedBody() });
    return failure ?? { outcome: "answered", status: head.status, value, ms: response.elapsedMs() };
  } catch (error) {
    if (failure) {
      return failure;
    }
    throw error;
  }
}

export { createWebRules } from "./rules.ts";
