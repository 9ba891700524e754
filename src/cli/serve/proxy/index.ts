/**
 * Forwards every request to the process that owns the data folder, and to no other server.
 *
 * The owner may end at any time, so each attempt looks up its address again. A request that may have been
 * processed is retried only if that is safe: if it reads, or has an idempotency key. A form is streamed,
 * because it may hold a file, and is therefore tried once. The owner checks everything else, such as the Host
 * header and the credential. What a client says about its own address is not forwarded.
 */
import { addAbortListener, once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
  request as send,
} from "node:http";
import { Failure } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import { toRequestId } from "../../../http/request-id.ts";
import { handleClientError } from "../../../http/server.ts";
import { writeFailure } from "../../../mcp/guards.ts";
import { readBytes } from "../../../streams/bytes.ts";
import { proofPath } from "../../data-folder/key-proof.ts";
import { createForwardedHeaders, dropHopByHop } from "./headers.ts";

export interface ProxyOptions {
  /** The owner's current address. */
  address(): Promise<string>;
  readonly bodyLimit: number;
  /** Proxies whose X-Forwarded-For is forwarded: IP addresses and networks. */
  readonly trustedProxies?: readonly string[];
  /** Aborted when the process stops: ends the streams of events, whose clients continue them elsewhere. */
  readonly stopping: AbortSignal;
}

/** How often idle connections are closed while the proxy closes: Node closes them only once. */
const closeIdleEveryMs = 50;

/** Waits for running requests; closes the remaining connections after `graceMs`. */
export async function closeProxy(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, "close");
  server.close();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  const idleTimer = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs);
  await closed;
  clearInterval(idleTimer);
  clearTimeout(timer);
}

/** The request that is sent to the owner. */
interface ForwardedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** A stream can be sent only once. */
  readonly body: Buffer | IncomingMessage;
}

const maxAttempts = 3;

export function createProxy({ address, bodyLimit, trustedProxies = [], stopping }: ProxyOptions): Server {
  const addForwarded = createForwardedHeaders(trustedProxies);
  return createServer({ requireHostHeader: false }, (incoming, response) => {
    forward(incoming, response).catch((error: unknown) => {
      response.headersSent ? response.destroy() : sendError(incoming, response, error);
    });
  }).on("clientError", handleClientError);

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "" } = incoming;
    const path = readPath(incoming);
    if (path.startsWith(proofPath)) {
      // The owner's proof is valid only for the owner's own address.
      throw fail("unavailable", { reason: "another process owns the data folder.", retry_after: 1 });
    }
    const isForm = /^multipart\/form-data\b/i.test(incoming.headers["content-type"] ?? "");
    const body = isForm ? incoming : await readBody(incoming, bodyLimit);
    const passedOn = addForwarded(dropHopByHop(incoming.headers), incoming.socket);
    const request = { method, path, headers: { ...passedOn, ...framingOf(body, passedOn) }, body };
    for (let number = 1; ; number += 1) {
      try {
        const origin = await address();
        if (response.destroyed) {
          // The client is gone, so no event would end a request to the owner any more.
          return;
        }
        return await forwardOnce(origin, request, { response, stopping });
      } catch (error) {
        if (number === maxAttempts || response.headersSent || !isRepeatable(request, error)) {
          throw fail("unavailable", { reason: "its owner ended; try again.", retry_after: 1 }, error);
        }
      }
    }
  }
}

/**
 * The path and query. Other forms of the request target contain a host, which must not decide where a request
 * is sent.
 * @throws Failure `malformed_request`, also without a Host header, because the owner's own would replace it.
 */
function readPath({ url = "", headers }: IncomingMessage): string {
  if (!/^\/(?!\/)[\x21-\xff]*$/.test(url) || headers.host === undefined) {
    throw fail("malformed_request");
  }
  return url;
}

/**
 * Always sets the framing headers: without them, Node would send the body of a DELETE in a way that it could
 * be read as the next request.
 */
function framingOf(body: ForwardedRequest["body"], headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  if (Buffer.isBuffer(body)) {
    return { "content-length": body.length };
  }
  return headers["content-length"] === undefined ? { "transfer-encoding": "chunked" } : {};
}

function forwardOnce(
  origin: string,
  { method, path, headers, body }: ForwardedRequest,
  { response, stopping }: { readonly response: ServerResponse; readonly stopping: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = send(origin, { method, path, headers });
    outgoing.once("error", reject);
    outgoing.once("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, dropHopByHop(answer.headers));
      answer.pipe(response);
      if (answer.headers["content-type"]?.startsWith("text/event-stream")) {
        const listener = addAbortListener(stopping, () => response.destroy());
        response.once("close", () => listener[Symbol.dispose]());
      }
      answer.once("end", resolve);
      answer.once("error", reject);
    });
    response.once("close", () => outgoing.destroy());
    if (Buffer.isBuffer(body)) {
      outgoing.end(body);
    } else {
      body.pipe(outgoing);
    }
  });
}

function isRepeatable({ method, headers, body }: ForwardedRequest, error: unknown): boolean {
  if (!Buffer.isBuffer(body)) {
    return false;
  }
  const wasNotSent = error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
  return wasNotSent || method === "GET" || headers["idempotency-key"] !== undefined;
}

/** @throws Failure `body_too_large`. */
function readBody(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  // A body that is too large must not destroy the connection: the error is sent on it.
  const body = incoming.iterator({ destroyOnReturn: false });
  return readBytes(body, limit, () => fail("body_too_large", { limit }));
}

function sendError(incoming: IncomingMessage, response: ServerResponse, error: unknown): void {
  response.setHeader("x-request-id", toRequestId(incoming.headers["x-request-id"]));
  writeFailure(response, error instanceof Failure ? error : fail("internal", {}, error));
}
