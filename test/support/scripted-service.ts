/** A scripted service that records its requests. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { listenerOf } from "./receiver.ts";

export interface RecordedRequest {
  readonly method: string;
  /** Not decoded, with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed if it is JSON, else the bytes. */
  readonly body: unknown;
}

/** `break` closes the connection instead of answering, `hang` never answers. */
export type ScriptedResponse =
  | "break"
  | "hang"
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: unknown };

type Responder = (request: RecordedRequest) => ScriptedResponse | Promise<ScriptedResponse>;

export interface Upstream extends AsyncDisposable {
  readonly url: string;
  readonly requests: RecordedRequest[];
  /** Computes the response to a request; a test may replace it. */
  respond: Responder;
}

/** Responds from a list, whose last response repeats, or with a function of the request; by default on a free port. */
export async function startUpstream(
  script: readonly ScriptedResponse[] | Responder,
  atPort = 0,
): Promise<Upstream> {
  const requests: RecordedRequest[] = [];
  const next = () =>
    (script as readonly ScriptedResponse[])[Math.min(requests.length, script.length) - 1] ?? {};
  const upstream = { requests, respond: typeof script === "function" ? script : next };
  const answerRequest = listenerOf(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const { method = "", url: path = "", headers } = request;
    const recorded = { method, path, headers, body: parseBody(Buffer.concat(chunks), headers) };
    requests.push(recorded);
    const answer = await upstream.respond(recorded);
    if (answer === "break") {
      request.socket.destroy();
      return;
    }
    if (answer !== "hang") {
      const { status = 200, headers: extra, body = { data: {} } } = answer;
      response.writeHead(status, { "content-type": "application/json", ...extra });
      response.end(typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body));
    }
  });
  const server = createServer(answerRequest);
  await new Promise<void>((resolve) => server.listen(atPort, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  return Object.assign(upstream, {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function parseBody(body: Buffer, headers: IncomingHttpHeaders): unknown {
  if (body.length === 0) {
    return undefined;
  }
  return headers["content-type"] === "application/json" ? JSON.parse(body.toString()) : body;
}
