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
import { createHostGuard, type HostPolicy, handleCors, writeFailure } from "./guards.ts";
import { createServerFactory, defaultToolFilter, type McpServerOptions } from "./server.ts";
import { loadArguments, type McpCaller } from "./tool-call/index.ts";
import { restrictByHeaders, type ToolFilter, ToolFilterError, tools } from "./tool-list/index.ts";
import { validateMessage } from "./validate-message.ts";

export interface McpHttpOptions extends McpServerOptions, HostPolicy {
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
  const answer = createRequestHandler(options, toNodeHandler(handler, { onerror }));

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
      writeFailure(response, error instanceof Failure ? error : fail("internal", {}, error));
    }
  };
  return Object.assign(serve, { close: () => handler.close() });
}

type Handle = ReturnType<typeof toNodeHandler>;

/** @throws Failure for what is not let in. */
function createRequestHandler(options: McpHttpOptions, handle: Handle) {
  const { authenticate, maxBodyBytes = 1_048_576, maxConcurrentPerKey = 64 } = options;
  const { toolFilter = defaultToolFilter } = options;
  const guardHost = createHostGuard(options);
  const limitConcurrency = createConcurrencyLimit(maxConcurrentPerKey);

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    guardHost(request.headers);
    if (handleCors(request, response)) {
      return;
    }
    const credential = readCredential(request.headers);
    if (credential === undefined) {
      throw fail("credential_missing");
    }
    const identity = await authenticateCredential(authenticate, credential);
    const auth = { ...identity, extra: { filter: applyRequestFilter(toolFilter, request) } };
    await limitConcurrency(credential, async () => {
      const body = parseJson(await readBody(request, maxBodyBytes));
      const jsonRpcError = request.method === "POST" ? validateMessage(body) : undefined;
      if (jsonRpcError) {
        response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(jsonRpcError));
        return;
      }
      await handle(Object.assign(request, { auth }), response, body);
    });
  };
}

/** @throws Failure `credential_invalid`, or `unavailable` when it can't be checked. */
async function authenticateCredential(
  authenticate: McpHttpOptions["authenticate"],
  credential: string,
): Promise<AuthInfo> {
  const found = await authenticate(credential).catch((error: unknown) => {
    throw error instanceof Failure
      ? error
      : fail("unavailable", { reason: "credentials can't be checked.", retry_after: 1 }, error);
  });
  return { token: credential, clientId: "tidings", scopes: [...found.scopes] };
}

/** What this request may see of what the operator shows. @throws Failure for a header that can't be read. */
function applyRequestFilter(operatorFilter: ToolFilter, { headers }: IncomingMessage): ToolFilter {
  try {
    return restrictByHeaders(tools, operatorFilter, headers);
  } catch (error) {
    throw error instanceof ToolFilterError ? fail("invalid_request", { reason: error.message }) : error;
  }
}

function toCaller(auth: AuthInfo | undefined): McpCaller {
  if (!auth) {
    throw new Error("a request reached the server without its credential");
  }
  const scopes = new Set(auth.scopes.flatMap((scope) => readScope(scope) ?? []));
  const filter = auth.extra?.filter as ToolFilter; // put there above, for every request
  return { key: auth.token, filter, scopes: () => scopes };
}

/** Runs what one credential asks for, up to a number at a time. @throws Failure `rate_limited`. */
function createConcurrencyLimit(maxRunning: number) {
  const running = new Map<string, number>();
  return async (credential: string, run: () => Promise<void>): Promise<void> => {
    const count = running.get(credential) ?? 0;
    if (count >= maxRunning) {
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
