/**
 * Serves MCP over HTTP: stateless, each request with its own credential.
 *
 * host and origin → credential → body → the server made for this one request. What is refused before
 * the protocol begins is answered in the envelope of the REST face.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { type AuthInfo, createMcpHandler, preloadSchemas } from "@modelcontextprotocol/server";
import { Failure, parseJson, readCredential, readScope, type Scope } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import { type Allowed, answerBrowser, createHostGuard, refuse } from "./admit.ts";
import { loadArguments, type McpCaller } from "./call.ts";
import { findFault } from "./gate.ts";
import { type Narrowing, NarrowingError, narrowFurther } from "./narrow.ts";
import { createServerFactory, defaultNarrowing, type ServerParts } from "./server.ts";
import { tools } from "./tools.ts";

export interface McpHttpOptions extends ServerParts, Allowed {
  /** What a credential may do. @throws Failure `credential_invalid`: unknown, revoked or expired. */
  authenticate(credential: string): Promise<{ readonly scopes: ReadonlySet<Scope> }>;
  readonly maxBodyBytes?: number;
  /** Requests that one credential may have running. */
  readonly maxConcurrentPerKey?: number;
}

export interface McpHttpHandler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends the streams that are open. */
  close(): Promise<void>;
}

export function createMcpHttpHandler(options: McpHttpOptions): McpHttpHandler {
  const { log } = options;
  // A service has time at its start and none at its first request.
  preloadSchemas();
  void loadArguments();
  const onerror = (error: Error) => log.debug({ err: error }, "an MCP request was refused");
  const factory = createServerFactory(options, ({ authInfo }) => toCaller(authInfo));
  const handler = createMcpHandler(factory, { onerror });
  const answer = createAnswer(options, toNodeHandler(handler, { onerror }));

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      await answer(request, response);
    } catch (error) {
      if (response.headersSent || response.destroyed) {
        response.destroy();
        return;
      }
      if (!(error instanceof Failure)) {
        log.error({ err: error }, "an MCP request failed");
      }
      refuse(response, error instanceof Failure ? error : fail("internal", {}, error));
    }
  };
  return Object.assign(serve, { close: () => handler.close() });
}

type Handle = ReturnType<typeof toNodeHandler>;

/** @throws Failure for what is not let in. */
function createAnswer(options: McpHttpOptions, handle: Handle) {
  const { authenticate, maxBodyBytes = 1_048_576, maxConcurrentPerKey = 64 } = options;
  const { narrowing = defaultNarrowing } = options;
  const guardHost = createHostGuard(options);
  const inTurn = createTurns(maxConcurrentPerKey);

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    guardHost(request.headers);
    if (answerBrowser(request, response)) {
      return;
    }
    const credential = readCredential(request.headers);
    if (credential === undefined) {
      throw fail("credential_missing");
    }
    const identity = await identify(authenticate, credential);
    const auth = { ...identity, extra: { narrowing: narrow(narrowing, request) } };
    await inTurn(credential, async () => {
      const body = parseJson(await readBody(request, maxBodyBytes));
      const fault = request.method === "POST" ? findFault(body) : undefined;
      if (fault) {
        response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(fault));
        return;
      }
      await handle(Object.assign(request, { auth }), response, body);
    });
  };
}

/** @throws Failure `credential_invalid`, or `unavailable` when it can't be checked. */
async function identify(authenticate: McpHttpOptions["authenticate"], credential: string): Promise<AuthInfo> {
  const found = await authenticate(credential).catch((error: unknown) => {
    throw error instanceof Failure
      ? error
      : fail("unavailable", { reason: "credentials can't be checked.", retry_after: 1 }, error);
  });
  return { token: credential, clientId: "tidings", scopes: [...found.scopes] };
}

/** What this request may see of what the operator shows. @throws Failure for a header that can't be read. */
function narrow(outer: Narrowing, { headers }: IncomingMessage): Narrowing {
  try {
    return narrowFurther(tools, outer, headers);
  } catch (error) {
    throw error instanceof NarrowingError ? fail("invalid_request", { reason: error.message }) : error;
  }
}

function toCaller(auth: AuthInfo | undefined): McpCaller {
  if (!auth) {
    throw new Error("a request reached the server without its credential");
  }
  const scopes = new Set(auth.scopes.flatMap((scope) => readScope(scope) ?? []));
  const narrowing = auth.extra?.narrowing as Narrowing; // put there above, for every request
  return { key: auth.token, narrowing, scopes: () => scopes };
}

/** Runs what one credential asks for, up to a number at a time. @throws Failure `rate_limited`. */
function createTurns(most: number) {
  const running = new Map<string, number>();
  return async (credential: string, run: () => Promise<void>): Promise<void> => {
    const count = running.get(credential) ?? 0;
    if (count >= most) {
      throw fail("rate_limited", { retry_after: 1 });
    }
    running.set(credential, count + 1);
    try {
      await run();
    } finally {
      const left = (running.get(credential) ?? 1) - 1;
      running.set(credential, left);
      if (left <= 0) {
        running.delete(credential);
      }
    }
  };
}

/** @throws Failure `body_too_large`. */
async function readBody(request: IncomingMessage, limit: number): Promise<string> {
  if (Number(request.headers["content-length"]) > limit) {
    throw fail("body_too_large", { limit });
  }
  const chunks: Buffer[] = [];
  let size = 0;
  // Ending the iteration must not end the connection: the refusal goes out on it.
  const incoming: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > limit) {
      throw fail("body_too_large", { limit });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
