/** Tells of every request: a span while it runs, and a figure when it is answered. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Credential } from "../../tools/contract/index.ts";
import type { Metrics, Span, Tracer } from "../ports/telemetry.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The operation that a route runs, by its name in the catalogue. */
    readonly operation?: string;
    /** The credential that a route requires; by default its handler decides. */
    readonly credential?: Credential;
  }
}

/** Asked for by machines, every few seconds, for ever: no trace is looked for there. */
const untracedPaths = new Set(["/healthz", "/readyz", "/metrics"]);

export function instrumentRequests(
  app: FastifyInstance,
  { metrics, tracer }: { readonly metrics: Metrics; readonly tracer: Tracer },
): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook("onRequest", (request, _reply, done) => {
    if (!untracedPaths.has(request.routeOptions.url ?? "")) {
      spans.set(request, tracer.startSpan(describeSpan(request)));
    }
    done();
  });
  // Not before: what is done while the body arrives forgets which request it is for.
  app.addHook("preHandler", (request, _reply, done) => {
    const span = spans.get(request);
    return span ? span.within(done) : done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    spans.get(request)?.end(describeSpanEnd(reply));
    metrics.request({
      operation: operationOf(request),
      method: request.method,
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    });
    done();
  });
}

/** The operation; the route where it has none; never what the client wrote. */
function operationOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.config.operation ?? routeOptions.url ?? "unknown";
}

function describeSpan(request: FastifyRequest) {
  const { traceparent } = request.headers;
  const route = request.routeOptions.url ?? "unknown";
  return {
    name: operationOf(request),
    kind: "server",
    parent: typeof traceparent === "string" ? traceparent : null,
    attributes: { "http.request.method": request.method, "http.route": route },
  } as const;
}

function describeSpanEnd({ statusCode }: FastifyReply) {
  const failure = statusCode >= 500 ? String(statusCode) : undefined;
  return { attributes: { "http.response.status_code": statusCode }, failure };
}
