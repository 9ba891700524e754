/**
 * Serves MCP over HTTP: stateless, each request with its own credential.
 *
 * host and origin → credential and rate limit → body → a server for this one request. Errors before the
 * protocol begins have the envelope of REST.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { type AuthInfo, createMcpHandler, preloadSchemas } from "@modelcontextprotocol/server";
import { Failure, parseJson, readCredential, readScope, type Scope } from "../../tools/contract/index.ts";
import { fail, failCredential } from "../../tools/errors.ts";
import type { AllowedOperations } from "../../tools/rule-operations.ts";
import { type Client, createClient, type Transport } from "../client/index.ts";
import { readBytes } from "../streams/bytes.ts";
import { createHostGuard, type HostPolicy, handleCors, writeFailure } from "./guards.ts";
import { createServerFactory, defaultToolFilter, type McpServerOptions } from "./server.ts";
import { loadArguments, type McpCaller } from "./tool-call/index.ts";
import { restrictByHeaders, type ToolFilter, ToolFilterError, tools } from "./tool-list/index.ts";
import { validateBatch, validateMessage } from "./validate-message.ts";

export interface McpHttpOptions extends McpServerOptions, HostPolicy {
  readonly maxBodyBytes?: number;
  /** Concurrent requests that one credential may have. */
  readonly maxConcurrentPerKey?: number;
}

/** What the HTTP server provides for each request. */
export interface McpAdmission {
  /** The most messages of a batch. */
  readonly maxMessages: number;
  /**
   * Finds the caller and counts one message.
   * @throws Failure `credential_missing`, `credential_invalid`, `rate_limited`.
   */
  identify(): Promise<McpIdentity>;
}

export interface McpIdentity {
  /** The same for every spelling of the credential. */
  readonly credentialId: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The operations that its rules allow; by default all. */
  readonly allowed?: AllowedOperations;
  /** Sends requests to the service that executes the tools. */
  readonly transport: Transport;
  /** Counts further messages. @throws Failure `rate_limited`. */
  count(messages: number): void;
}

export interface McpHttpHandler {
  (request: IncomingMessage, response: ServerResponse, admission: McpAdmission): Promise<void>;
  /** Closes the open streams. */
  close(): Promise<void>;
}

export function createMcpHttpHandler(options: McpHttpOptions): McpHttpHandler {
  const { log } = options;
  // At the start, so that the first request is not slow. If it fails, each call reports the failure itself.
  preloadSchemas();
  loadArguments().catch(() => undefined);
  const onerror = (error: Error) => log.debug({ err: error }, "an MCP request was rejected");
  const factory = createServerFactory(options, ({ authInfo }) => toCaller(authInfo));
  const handler = createMcpHandler(factory, { onerror });
  const answer = createRequestHandler(options, toNodeHandler(handler, { onerror }));

  const serve: Serve = async (request, response, admission) => {
    try {
      await answer(request, response, admission);
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
type Serve = (request: IncomingMessage, response: ServerResponse, admission: McpAdmission) => Promise<void>;

/** @throws Failure for a request that is rejected. */
function createRequestHandler(options: McpHttpOptions, handle: Handle): Serve {
  const { maxBodyBytes = 1_048_576, maxConcurrentPerKey = 64 } = options;
  const { toolFilter = defaultToolFilter } = options;
  const guardHost = createHostGuard(options);
  const limitConcurrency = createConcurrencyLimit(maxConcurrentPerKey);
  const startInTurn = createGate();

  return async (request, response, admission) => {
    guardHost(request.headers);
    if (handleCors(request, response)) {
      return;
    }
    const { credentialId, scopes, allowed = null, transport, count } = await identify(admission);
    const filter = applyRequestFilter(toolFilter, request);
    const extra: AuthExtra = { filter, allowed, client: createClient({ transport }) };
    const auth = { token: tokenOf(request), clientId: "tidings", scopes: [...scopes], extra: { ...extra } };
    await limitConcurrency(credentialId, async () => {
      const text = await readBody(request, maxBodyBytes);
      const isLarge = text.length > largeLength;
      const run = async () => {
        const body = parseJson(text);
        const { maxMessages } = admission;
        const jsonRpcError =
          request.method === "POST" ? (validateBatch(body, maxMessages) ?? validateMessage(body)) : undefined;
        if (jsonRpcError) {
          response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(jsonRpcError));
          return;
        }
        const runMessages = () => handle(Object.assign(request, { auth }), response, body);
        const isBatch = Array.isArray(body) && body.length > 1;
        if (isBatch) {
          count(body.length - 1);
        }
        await (isBatch && !isLarge ? startInTurn(runMessages) : runMessages());
      };
      await (isLarge ? startInTurn(run) : run());
    });
  };
}

/** @throws Failure of `admission.identify`, or `unavailable` if the credential can't be checked. */
async function identify(admission: McpAdmission): Promise<McpIdentity> {
  return admission.identify().catch((error: unknown) => {
    throw error instanceof Failure
      ? error
      : fail("unavailable", { reason: "credentials can't be checked.", retry_after: 1 }, error);
  });
}

/** The credential as it was sent. @throws Failure `credential_missing`. */
function tokenOf({ headers }: IncomingMessage): string {
  const credential = readCredential(headers);
  if (credential === undefined) {
    throw failCredential(headers);
  }
  return credential;
}

/** The operator's filter, restricted by the headers of the request. @throws Failure for an invalid header. */
function applyRequestFilter(operatorFilter: ToolFilter, { headers }: IncomingMessage): ToolFilter {
  try {
    return restrictByHeaders(tools, operatorFilter, headers);
  } catch (error) {
    throw error instanceof ToolFilterError ? fail("invalid_request", { reason: error.message }) : error;
  }
}

/** What the SDK passes on with the credential. */
interface AuthExtra {
  readonly filter: ToolFilter;
  readonly allowed: AllowedOperations;
  readonly client: Client;
}

function toCaller(auth: AuthInfo | undefined): McpCaller {
  if (!auth) {
    throw new Error("a request reached the server without its credential");
  }
  const scopes = new Set(auth.scopes.flatMap((scope) => readScope(scope) ?? []));
  const { filter, allowed, client } = auth.extra as unknown as AuthExtra; // set above, for every request
  return { client, key: auth.token, filter, scopes: () => scopes, allowed: () => allowed };
}

/** In characters; a shorter message takes about a millisecond to parse. */
const largeLength = 32 * 1024;

/**
 * Starts batches and large messages one after the other. A large message is parsed, and the messages of a
 * batch are answered, in one turn of the event loop, so after each start the next one waits as long as that
 * took: the requests of others are served meanwhile.
 */
function createGate() {
  let previous = Promise.resolve();
  return async (run: () => Promise<void>): Promise<void> => {
    const turn = previous;
    let release = () => {};
    previous = new Promise((resolve) => {
      release = resolve;
    });
    await turn;
    const startedAt = performance.now();
    setImmediate(() => setTimeout(release, performance.now() - startedAt));
    await run();
  };
}

/** Limits the concurrent requests of each credential. @throws Failure `rate_limited`. */
function createConcurrencyLimit(maxRunning: number) {
  const running = new Map<string, number>();
  return async (credentialId: string, run: () => Promise<void>): Promise<void> => {
    const count = running.get(credentialId) ?? 0;
    if (count >= maxRunning) {
      throw fail("rate_limited", { retry_after: 1 });
    }
    running.set(credentialId, count + 1);
    try {
      await run();
    } finally {
      const remaining = (running.get(credentialId) ?? 1) - 1;
      running.set(credentialId, remaining);
      if (remaining <= 0) {
        running.delete(credentialId);
      }
    }
  };
}

/** @throws Failure `body_too_large`. */
async function readBody(request: IncomingMessage, limit: number): Promise<string> {
  if (Number(request.headers["content-length"]) > limit) {
    throw fail("body_too_large", { limit });
  }
  // A body that is too large must not destroy the connection: the error is sent on it.
  const incoming = request.iterator({ destroyOnReturn: false });
  const bytes = await readBytes(incoming, limit, () => fail("body_too_large", { limit }));
  return bytes.toString("utf8");
}
