/** A proxy in front of the service: fills placeholders, and records the failed requests of curl. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Placeholders } from "./placeholders.ts";

/** What the proxy keeps of the page that runs. */
export interface Traffic {
  readonly placeholders: Placeholders;
  readonly failures: string[];
}

export interface Proxy extends AsyncDisposable {
  readonly address: string;
}

/** `target` and `traffic` are read for each request: the service starts after its proxy. */
export async function openProxy(target: () => string, traffic: () => Traffic): Promise<Proxy> {
  const server = createServer((incoming, answer) => {
    forward(incoming, answer, target(), traffic()).catch(() => answer.destroy());
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // A client that exits may reset the connection that it kept open.
    if (error.code !== "ECONNRESET") {
      traffic().failures.push(`A request could not be read: ${error.message}`);
    }
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a TCP port
  return {
    address: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function forward(
  incoming: IncomingMessage,
  answer: ServerResponse,
  target: string,
  { placeholders, failures }: Traffic,
): Promise<void> {
  const received = await buffer(incoming);
  const text = received.toString();
  const filled = placeholders.fill(text);
  // A file may not be valid text.
  const body = filled === text ? received : Buffer.from(filled);
  const path = placeholders.fill((incoming.url ?? "/").replaceAll(/%e2%80%a6/gi, "…"));
  const { expect: _, ...headers } = incoming.headers;
  if (headers["content-length"] !== undefined) {
    headers["content-length"] = String(body.length);
  }
  const outgoing = request(new URL(path, target), { method: incoming.method, headers });
  answer.on("close", () => outgoing.destroy());
  outgoing.end(body);
  const [upstream] = (await once(outgoing, "response")) as [IncomingMessage];
  const status = upstream.statusCode ?? 502;
  answer.writeHead(status, upstream.headers);
  const chunks: Buffer[] = [];
  for await (const chunk of upstream) {
    chunks.push(chunk);
    answer.write(chunk);
  }
  const answered = Buffer.concat(chunks).toString();
  placeholders.learn(answered);
  // Other clients probe for addresses that do not exist.
  if (status >= 400 && headers["user-agent"]?.startsWith("curl/")) {
    failures.push(`${incoming.method} ${path} was answered with ${status}: ${answered}`);
  }
  answer.end();
}
