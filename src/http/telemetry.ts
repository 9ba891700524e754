/**
 * Telemetry of the REST transport: a span, a metric and a line of the log for each request, and
 * `GET /metrics`.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { fail, failCredential } from "../../tools/errors.ts";
import type { Log } from "../ports/telemetry/log.ts";
import type { Metrics, Span, Tracer } from "../ports/telemetry/telemetry.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The operation that a route runs, by its name in the catalogue. */
    readonly operation?: string;
  }
}

/** Monitoring polls these paths every few seconds; traces of such requests are of no use. */
const untracedPaths = new Set(["/healthz", "/drainz", "/readyz", "/metrics"]);

/** The status of requests whose connection was closed before the answer began, as nginx logs it. */
const connectionClosed = 499;

export function instrumentRequests(
  app: FastifyInstance,
  { metrics, tracer, log }: { readonly metrics: Metrics; readonly tracer: Tracer; readonly log: Log },
): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  const record = (request: FastifyRequest, reply: FastifyReply, ms: number) => {
    const { method, id: request_id } = request;
    const isAnswered = reply.raw.writableFinished;
    const status = reply.raw.headersSent ? reply.statusCode : connectionClosed;
    spans.get(request)?.end(describeSpanEnd(status));
    metrics.request({ operation: operationOf(request), method, status, seconds: ms / 1000 });
    const facts = { method, route: request.routeOptions.url, status, ms: Math.round(ms), request_id };
    log.debug(facts, isAnswered ? "answered" : "the connection was closed before the answer");
  };
  app.addHook("onRequest", (request, reply, done) => {
    const begin = performance.now();
    // Not in onResponse, which does not run if the client closes the connection first. Without that hook,
    // Fastify measures no time.
    reply.raw.once("close", () => record(request, reply, performance.now() - begin));
    if (!untracedPaths.has(request.routeOptions.url ?? "")) {
      const { method, headers, routeOptions } = request;
      const { url: route = "unknown" } = routeOptions;
      spans.set(
        request,
        tracer.startSpan(describeSpan({ operation: operationOf(request), method, route, headers })),
      );
    }
    done();
  });
  // Not in an earlier hook, because reading the body loses the async context.
  app.addHook("preHandler", (request, _reply, done) => {
    const span = spans.get(request);
    return span ? span.within(done) : done();
  });
}

/** The operation, or the route if there is no operation; never client input. */
function operationOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.config.operation ?? routeOptions.url ?? "unknown";
}

interface TracedRequest {
  readonly operation: string;
  readonly method: string;
  /** The path of the route as declared, with placeholders. */
  readonly route: string;
  readonly headers: IncomingHttpHeaders;
}

/** The span of a request, over HTTP or within the process. */
export function describeSpan({ operation, method, route, headers: { traceparent } }: TracedRequest) {
  return {
    name: operation,
    kind: "server",
    parent: typeof traceparent === "string" ? traceparent : null,
    attributes: { "http.request.method": method, "http.route": route },
  } as const;
}

export function describeSpanEnd(status: number) {
  const failure = status >= 500 ? String(status) : undefined;
  return { attributes: { "http.response.status_code": status }, failure };
}

export interface MetricsEndpoint {
  readonly token: string;
  /** The metrics in the text format of Prometheus. */
  scrape(): Promise<string>;
}

/** Adds `GET /metrics`, which requires the operator's token. */
export function addMetrics(app: FastifyInstance, { token, scrape }: MetricsEndpoint): void {
  const expected = digest(token);
  // The bearer token of this route is not a credential of the service.
  app.get("/metrics", { config: { credential: "none" } }, async ({ headers }, reply) => {
    const [, presented] = /^Bearer +(\S+)\s*$/i.exec(headers.authorization ?? "") ?? [];
    if (presented === undefined) {
      throw failCredential(headers);
    }
    // Comparing digests leaks neither the length of the token nor a matching prefix.
    if (!timingSafeEqual(digest(presented), expected)) {
      throw fail("credential_invalid");
    }
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(await scrape());
  });
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
