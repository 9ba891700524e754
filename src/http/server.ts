/** The REST face: one Fastify server with the catalogue's routes, health, and what else is mounted on it. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import type { Operation } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import type { Platform } from "../platform/index.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics, Tracer } from "../ports/telemetry.ts";
import { type AdapterRoute, addAdapterRoutes } from "./adapter-routes.ts";
import { drainRequest } from "./drain.ts";
import { sendFailure } from "./error-response.ts";
import { addFiles, filesPath } from "./files.ts";
import { createRateLimit, type RateLimits } from "./guards.ts";
import { instrumentRequests } from "./instrument.ts";
import { addMetrics, type MetricsEndpoint } from "./metrics.ts";
import { describeApi } from "./openapi.ts";
import { addOperations } from "./router.ts";

export interface ServerOptions {
  readonly platform: Platform;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly version: string;
  readonly log: Log;
  readonly rateLimits: RateLimits;
  readonly bodyLimit: number;
  /** Whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Whether the service can do its work now; throws when it can't. */
  checkReady(): Promise<void>;
  /** The controls of adapters that have some, with an API key. */
  readonly adapterRoutes: readonly AdapterRoute[];
  /** The MCP face, which answers at /mcp by itself. */
  readonly mcp: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly telemetry: { readonly metrics: Metrics; readonly tracer: Tracer };
  /** Undefined: /metrics is a route that there is not. */
  readonly metricsEndpoint: MetricsEndpoint | undefined;
}

export interface HttpServer {
  /** @returns the address, `http://host:port`; loopback where it listens on every interface. */
  listen(host: string, port: number): Promise<string>;
  /** Ends when every request was answered, or closes the connections after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export function createServer(options: ServerOptions): HttpServer {
  const app = createApp(options);
  return {
    async listen(host, port) {
      await app.listen({ host, port });
      const bound = app.server.address() as AddressInfo; // a TCP port, as just requested
      const name = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
      return `http://${isEveryInterface(bound.address) ? "127.0.0.1" : name}:${bound.port}`;
    },
    async close(graceMs) {
      const timer = setTimeout(() => app.server.closeAllConnections(), graceMs);
      await app.close();
      clearTimeout(timer);
    },
  };
}

function isEveryInterface(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

function createApp(options: ServerOptions): FastifyInstance {
  const { log, platform, operations } = options;
  const app = Fastify({
    logger: false,
    bodyLimit: options.bodyLimit,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    exposeHeadRoutes: false,
    forceCloseConnections: "idle",
    genReqId: (request) => toRequestId(request.headers["x-request-id"]),
    requestTimeout: requestTimeoutMs,
    // An id that is too long is refused by its schema, in words; a header's limit is the only other one.
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: (error, request, reply) => sendFailure(log, error, request, reply),
    clientErrorHandler: handleClientError,
  });
  addJsonParser(app);
  app.setErrorHandler((error, request, reply) => sendFailure(log, error, request, reply));
  app.setNotFoundHandler((request) => {
    throw fail("route_not_found", { method: request.method, path: request.url.split("?")[0] });
  });
  instrumentRequests(app, options.telemetry);
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, id: request_id } = request;
    const facts = {
      method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    };
    log.debug({ ...facts, request_id }, "answered");
  });
  const { limit, noteFailure } = createRateLimit(options.rateLimits);
  app.addHook("onRequest", async (request, reply) => {
    if (!pathsWithoutRateLimit.has(request.routeOptions.url ?? "")) {
      await limit(request, reply);
    }
  });
  let isClosing = false;
  app.addHook("preClose", async () => {
    isClosing = true;
  });
  app.addHook("onSend", async (request, reply) => {
    if (!isClosing) {
      await drainRequest(request, reply);
    }
    if (isClosing) {
      // Idle connections were closed when it began: one that is kept after this answer would be waited for.
      reply.header("connection", "close");
    }
    if (reply.statusCode === 401) {
      await noteFailure(request);
    }
  });
  addHealth(app, options);
  addMcp(app, options);
  if (options.metricsEndpoint) {
    addMetrics(app, options.metricsEndpoint);
  }
  addOperations(app, platform, operations);
  addAdapterRoutes(app, platform, options.adapterRoutes);
  addFiles(app, platform);
  const document = describeApi(operations, options.version);
  app.get("/v1/openapi.json", { config: { credential: "none" } }, () => document);
  return app;
}

/**
 * Health is asked by machines that must be answered; what a tool call does is counted where it arrives, at
 * REST; and a channel fetches all its files from few addresses. A made-up link costs no query.
 */
const pathsWithoutRateLimit = new Set(["/healthz", "/readyz", "/mcp", filesPath]);

/** How long a request may take to arrive: 32 MB at 1 Mbit/s. */
const requestTimeoutMs = 300_000;

/** What is no HTTP, or too much of it, still gets the envelope. */
function handleClientError(error: Error, socket: Socket): void {
  if (socket.writable) {
    const body = JSON.stringify(fail("malformed_request", {}, error).body(toRequestId(undefined)));
    const head = "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close";
    socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
}

/** A caller's own request id is kept where it is harmless in a log. */
function toRequestId(given: string | string[] | undefined): string {
  return typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : `req_${randomUUID()}`;
}

/** JSON bodies; an empty one is an empty object, for operations that need none. */
function addJsonParser(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    let text: string;
    try {
      text = utf8.decode(body as Buffer);
    } catch {
      done(fail("malformed_body", { reason: "it is not UTF-8." }));
      return;
    }
    if (text.trim() === "") {
      done(null, {});
      return;
    }
    parse(request, text, done);
  });
}

function addHealth(app: FastifyInstance, { checkReady }: ServerOptions): void {
  app.get("/healthz", () => ({ status: "ok" }));
  app.get("/readyz", async () => {
    await checkReady();
    return { status: "ready" };
  });
}

/** The MCP face reads its own body and writes its own answer. */
function addMcp(app: FastifyInstance, { mcp }: ServerOptions): void {
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser("*", (_request, _payload, done) => done(null));
    raw.all("/mcp", async (request, reply) => {
      reply.hijack();
      reply.raw.setHeader("x-request-id", request.id);
      await mcp(request.raw, reply.raw);
    });
  });
}
