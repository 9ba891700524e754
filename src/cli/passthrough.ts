/**
 * Passes every request on to the process that owns the data folder.
 *
 * The owner may end at any time: the address is asked for again at each try. A request that may have
 * been taken is tried again only if that is safe, that is, if it reads or carries an idempotency key. A
 * form is passed on as it comes, because it may hold a file, and so it is tried once.
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

export interface PassthroughOptions {
  /** Where the owner listens now. */
  address(): Promise<string>;
  readonly bodyLimit: number;
}

const tries = 3;

export function createPassthrough({ address, bodyLimit }: PassthroughOptions): Server {
  return createServer((incoming, response) => {
    forward(incoming, response).catch((error: unknown) => refuse(response, error));
  });

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (/^multipart\/form-data\b/i.test(incoming.headers["content-type"] ?? "")) {
      return passOnce(await address(), incoming, incoming, response).catch((error: unknown) => {
        throw fail("unavailable", { reason: "its owner ended; try again.", retry_after: 1 }, error);
      });
    }
    const body = await readBody(incoming, bodyLimit);
    for (let number = 1; ; number += 1) {
      try {
        return await passOnce(await address(), incoming, body, response);
      } catch (error) {
        if (number === tries || response.headersSent || !isRepeatable(incoming, error)) {
          throw fail("unavailable", { reason: "its owner ended; try again.", retry_after: 1 }, error);
        }
      }
    }
  }
}

function passOnce(
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
  const wasNotTaken = (error as NodeJS.ErrnoException).code === "ECONNREFUSED";
  return wasNotTaken || method === "GET" || headers["idempotency-key"] !== undefined;
}

async function readBody(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      throw fail("body_too_large", { limit });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const failure = error instanceof Failure ? error : fail("internal", {}, error);
  response
    .writeHead(failure.status, { "content-type": "application/json" })
    .end(JSON.stringify(failure.body()));
}
