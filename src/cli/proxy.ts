/**
 * Forwards every request to the process that owns the data folder.
 *
 * The owner may end at any time, so each attempt looks up its address again. A request that may have been
 * processed is retried only if that is safe: if it reads, or has an idempotency key. A form is streamed,
 * because it may hold a file, and is therefore tried once.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as send,
} from "node:http";
import { Failure } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";

export interface ProxyOptions {
  /** The owner's current address. */
  address(): Promise<string>;
  readonly bodyLimit: number;
}

const maxAttempts = 3;

export function createProxy({ address, bodyLimit }: ProxyOptions): Server {
  return createServer((incoming, response) => {
    forward(incoming, response).catch((error: unknown) => sendError(response, error));
  });

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (/^multipart\/form-data\b/i.test(incoming.headers["content-type"] ?? "")) {
      return forwardOnce(await address(), incoming, incoming, response).catch((error: unknown) => {
        throw fail("unavailable", { reason: "its owner ended; try again.", retry_after: 1 }, error);
      });
    }
    const body = await readBody(incoming, bodyLimit);
    for (let number = 1; ; number += 1) {
      try {
        return await forwardOnce(await address(), incoming, body, response);
      } catch (error) {
        if (number === maxAttempts || response.headersSent || !isRepeatable(incoming, error)) {
          throw fail("unavailable", { reason: "its owner ended; try again.", retry_after: 1 }, error);
        }
      }
    }
  }
}

function forwardOnce(
  origin: string,
  incoming: IncomingMessage,
  body: Buffer | IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = send(new URL(incoming.url ?? "/", origin), {
      method: incoming.method,
      headers: { ...incoming.headers, ...(Buffer.isBuffer(body) ? { "content-length": body.length } : {}) },
    });
    outgoing.once("error", reject);
    outgoing.once("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
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

function isRepeatable({ method, headers }: IncomingMessage, error: unknown): boolean {
  const wasNotSent = error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
  return wasNotSent || method === "GET" || headers["idempotency-key"] !== undefined;
}

async function readBody(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const body: AsyncIterable<Buffer> = incoming;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) {
      throw fail("body_too_large", { limit });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const failure = error instanceof Failure ? error : fail("internal", {}, error);
  response
    .writeHead(failure.status, { "content-type": "application/json" })
    .end(JSON.stringify(failure.body()));
}
