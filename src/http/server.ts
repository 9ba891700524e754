/**
 * The REST transport: a Fastify server with the catalogue's routes, other public routes, health checks,
 * /metrics and /mcp.
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import Fastify, { type FastifyInstance } from "fastify";
import type { Operation, Scope } from "../../tools/contract/index.ts";
import { fail } from "../../tools/errors.ts";
import { type AllowedOperations, allowedOperations } from "../../tools/rule-operations.ts";
import type { Platform } from "../platform/index.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/telemetry/log.ts";
import type { Metrics, Tracer } from "../ports/telemetry/telemetry.ts";
import type { HttpRoute } from "../ports/transport/http-route.ts";
import type { OperationRequest, OperationResponse } from "../ports/transport/operation-request.ts";
import type { Deadline } from "../time/deadline.ts";
import {
  type Admission,
  admitRequests,
  createAdmission,
  createAuthenticator,
  createLoginLimit,
  createVerification,
  holdRequests,
  type MessageAdmission,
  type RateLimits,
} from "./admission/index.ts";
import { addJsonParser, createBodyReceiver, createJsonReader, drainRequest } from "./bodies/index.ts";
import { allowOrigins, compressAnswers } from "./browsers.ts";
import { addApiDocument } from "./document.ts";
import { createReportError, createSendFailure } from "./error-response.ts";
import { mountRoutes } from "./mount-routes.ts";
import {
  addOperations,
  createInProcessService,
  createServeOperation,
  type InProcessService,
  nearRoutes,
} from "./operations/index.ts";
import { addPages, type PagesOptions } from "./pages/index.ts";
import { toRequestId } from "./request-id.ts";
import { addMetrics, instrumentRequests, type MetricsEndpoint } from "./telemetry.ts";

export interface ServerOptions {
  readonly platform: Platform;
  /** Operations of the operator are left out of the OpenAPI document. */
  readonly operations: Readonly<Record<string, Operation>>;
  /** If undefined, no operation requires the operator's key. */
  readonly operatorKey: string | undefined;
  readonly version: string;
  readonly log: Log;
  readonly now: Clock;
  readonly rateLimits: RateLimits;
  /** The largest body of a request with a credential, in bytes. */
  readonly bodyLimit: number;
  /** Origins of web pages that may call the API. */
  readonly corsOrigins: readonly string[];
  /** Proxies whose X-Forwarded-For is trusted: IP addresses and networks. */
  readonly trustedProxies: readonly string[];
  /** Throws if the service can't process requests now. */
  checkReady(): Promise<void>;
  /** Whether the service was restored from a backup and is not released yet. */
  isHeld(): Promise<boolean>;
  /** Routes that are not operations. */
  readonly routes: readonly HttpRoute[];
  readonly pages: PagesOptions;
  /** The MCP transport, which handles /mcp. */
  readonly mcp: (
    request: IncomingMessage,
    response: ServerResponse,
    admission: McpRequestAdmission,
  ) => Promise<void>;
  readonly telemetry: { readonly metrics: Metrics; readonly tracer: Tracer };
  /** If undefined, there is no /metrics route. */
  readonly metricsEndpoint: MetricsEndpoint | undefined;
}

/** Admits an MCP request, and serves the requests for its messages. */
export interface McpRequestAdmission extends Pick<MessageAdmission, "maxMessages"> {
  /**
   * Finds the caller and counts one message; `count` counts further messages.
   * @throws Failure as `Admission.identify`.
   */
  identify(): Promise<{
    readonly credentialId: string;
    readonly scopes: ReadonlySet<Scope>;
    readonly allowed: AllowedOperations;
    count(messages: number): void;
    readonly transport: McpTransport;
  }>;
}

/** Serves the requests for operations of one caller, in this process. */
interface McpTransport {
  send(
    request: OperationRequest,
    attempt: { readonly deadline: Pick<Deadline, "signal" | "within"> },
  ): Promise<OperationResponse>;
}

export interface HttpServer {
  /**
   * @returns the address, `http://host:port`; the loopback address if the server listens on every interface.
   */
  listen(at: { readonly host: string; readonly port: number }): Promise<string>;
  /** Answers /drainz and /readyz with 503 from now on, and waits until load balancers have noticed it. */
  drain(delayMs: number): Promise<void>;
  /** Waits for running requests; closes the remaining connections after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export async function createServer(options: ServerOptions): Promise<HttpServer> {
  let isDraining = false;
  const { app, inProcess } = await createApp(options, () => isDraining);
  return {
    async drain(delayMs) {
      isDraining = true;
      await sleep(delayMs);
    },
    async listen({ host, port }) {
      await app.listen({ host, port });
      const bound = app.server.address() as AddressInfo; // a TCP port, as just requested
      const name = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
      return `http://${isEveryInterface(bound.address) ? "127.0.0.1" : name}:${bound.port}`;
    },
    async close(graceMs) {
      const timer = setTimeout(() => {
        app.server.closeAllConnections();
        inProcess.abort();
      }, graceMs);
      // Node closes idle connections only once, and a response that is being sent keeps its connection alive.
      const idleTimer = setInterval(() => app.server.closeIdleConnections(), closeIdleEveryMs);
      await app.close();
      // Requests that write continue after their MCP client has disconnected.
      await inProcess.idle();
      clearInterval(idleTimer);
      clearTimeout(timer);
    },
  };
}

/** How often idle connections are closed while the server closes. */
const closeIdleEveryMs = 50;

function isEveryInterface(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

async function createApp(
  options: ServerOptions,
  isDraining: () => boolean,
): Promise<{ readonly app: FastifyInstance; readonly inProcess: InProcessService }> {
  const { log, operations } = options;
  const reportError = createReportError(log);
  const sendFailure = createSendFailure(reportError);
  const app = Fastify({
    logger: false,
    bodyLimit: Math.min(options.bodyLimit, maxPublicBodyBytes),
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    exposeHeadRoutes: false,
    forceCloseConnections: "idle",
    genReqId: (request) => toRequestId(request.headers["x-request-id"]),
    requestTimeout: requestTimeoutMs,
    // Node's own response has no body; the hook below rejects such a request.
    http: { requireHostHeader: false },
    // Lets ids that are too long reach their schema, whose error is clearer than the router's.
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: sendFailure,
    clientErrorHandler: handleClientError,
  });
  await allowOrigins(app, options.corsOrigins);
  await compressAnswers(app);
  const readJson = createJsonReader(app);
  const receive = createBodyReceiver();
  addJsonParser(app, { receive, readJson });
  app.setErrorHandler(sendFailure);
  app.setNotFoundHandler(({ method, url }) => {
    const path = url.split("?")[0] ?? "";
    const suggestions = nearRoutes(withoutOperator(operations), { method, path });
    throw fail("route_not_found", { method, path, ...(suggestions.length > 0 && { suggestions }) });
  });
  instrumentRequests(app, { ...options.telemetry, log });
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
      throw fail("malformed_request");
    }
  });
  holdRequests(app, options);
  // An expectation may be ignored (RFC 9110, 10.1.1); Node would answer 417 without a body.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  addPages(app, options.pages);
  const platform = { ...options.platform, authenticate: createAuthenticator(options.platform) };
  const admission = createAdmission({ ...options, platform });
  admitRequests(app, admission);
  let isClosing = false;
  app.addHook("preClose", async () => {
    isClosing = true;
  });
  app.addHook("onSend", async (request, reply) => {
    if (!isClosing) {
      await drainRequest(request, reply);
    }
    if (isClosing) {
      // Idle connections are already closed. A connection that is kept alive now would delay the shutdown.
      reply.header("connection", "close");
    }
  });
  addHealth(app, options, isDraining);
  const loginLimit = createLoginLimit(options.now);
  const serve = createServeOperation(platform, loginLimit);
  const inProcess = createInProcessService({ ...options, serve, readJson, reportError });
  addMcp(app, options, { admission, inProcess });
  if (options.metricsEndpoint) {
    addMetrics(app, options.metricsEndpoint);
  }
  addOperations(app, { ...options, serve });
  const verification = createVerification(options.now);
  mountRoutes(app, { ...options, receive, verification, loginLimit });
  addApiDocument(app, { ...options, operations: withoutOperator(operations) });
  return { app, inProcess };
}

function withoutOperator(operations: ServerOptions["operations"]): ServerOptions["operations"] {
  return Object.fromEntries(
    Object.entries(operations).filter(([, { credential }]) => credential !== "operator"),
  );
}

/**
 * The largest body without a credential: the longest e-mail address and two of the longest passwords have
 * about 2,500 characters.
 */
const maxPublicBodyBytes = 8_192;

/** How long the arrival of a request may take: 32 MB at 1 Mbit/s. */
const requestTimeoutMs = 300_000;

/** Answers what the HTTP parser rejects, and requests that arrive too slowly, with the error envelope. */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (socket.writable) {
    const id = toRequestId(undefined);
    const failure = fail(byParserCode[error.code ?? ""] ?? "malformed_request", {}, error);
    const { status } = failure;
    const body = JSON.stringify(failure.body(id));
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nX-Request-Id: ${id}\r\nConnection: close`;
    socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    if (failure.code === "request_too_slow") {
      // A client that does not close its side would keep the request, and what has arrived of its body.
      socket.destroySoon();
    }
  }
}

const byParserCode: Readonly<Record<string, "request_too_slow" | "headers_too_large">> = {
  ERR_HTTP_REQUEST_TIMEOUT: "request_too_slow",
  HPE_HEADER_OVERFLOW: "headers_too_large",
};

/** Health checks must always be answered. */
function addHealth(app: FastifyInstance, { checkReady }: ServerOptions, isDraining: () => boolean): void {
  const route = { config: { isRateLimited: false }, exposeHeadRoute: true };
  const requireRunning = () => {
    if (isDraining()) {
      throw fail("unavailable", { reason: "it is stopping." });
    }
  };
  app.get("/healthz", route, () => ({ status: "ok" }));
  // For load balancers, which would take all processes out of use while the database is away.
  app.get("/drainz", route, () => {
    requireRunning();
    return { status: "ok" };
  });
  let checking: Promise<void> | undefined;
  app.get("/readyz", route, async () => {
    requireRunning();
    // One check for all waiting requests: they need no credential and are not counted, so separate checks
    // would cost a query each.
    checking ??= checkReady().finally(() => {
      checking = undefined;
    });
    await checking;
    return { status: "ready" };
  });
}

interface McpParts {
  readonly admission: Admission;
  readonly inProcess: InProcessService;
}

/** The MCP transport reads the body, counts its messages and writes the response itself. */
function addMcp(app: FastifyInstance, { mcp }: ServerOptions, { admission, inProcess }: McpParts): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.route({
      // Without TRACE, which the SDK does not support.
      method: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
      url: "/mcp",
      config: { isRateLimited: false },
      async handler({ raw, headers, ip: address, id }, reply) {
        reply.hijack();
        const setHeader = (name: string, value: string) => void reply.raw.setHeader(name, value);
        setHeader("x-request-id", id);
        const { maxMessages, identify } = admission.forMessages({ headers, address, setHeader });
        await mcp(raw, reply.raw, {
          maxMessages,
          async identify() {
            const { caller, count } = await identify();
            const actor = { caller, isOperator: false, address };
            return {
              credentialId: caller.credential.id,
              scopes: caller.scopes,
              allowed: allowedOperations([...caller.rules, ...caller.toolRules]),
              count,
              transport: {
                send: (request, { deadline }) =>
                  deadline.within(inProcess.send(actor, request, deadline.signal)),
              },
            };
          },
        });
      },
    });
  });
}
