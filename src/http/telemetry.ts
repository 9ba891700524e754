/** Telemetry of the REST transport: a span and a metric for each request, and `GET /metrics`. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { fail, failCredential } from "../../tools/errors.ts";
import type { Metrics, Span, Tracer } from "../ports/telemetry/telemetry.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The operation that a route runs, by its name in the catalogue. */
    readonly operation?: string;
  }
}

/** Monitoring polls these paths every few seconds; traces of such requests are of no use. */
const untracedPaths = new Set(["/healthz", "/readyz", "/metrics"]);

export function instrumentRequests(
  app: FastifyInstance,
  { metrics, tracer }: { readonly metrics: Metrics; readonly tracer: Tracer },
): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook("onRequest", (request, _reply, done) => {
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
  app.addHook("onResponse", (request, reply, done) => {
    spans.get(request)?.end(describeSpanEnd(reply.statusCode));
    metrics.request({
      operation: operationOf(request),
      method: request.method,
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    });
    done();
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
