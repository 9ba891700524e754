/**
 * Spans in the words of OpenTelemetry, sent to a collector by OTLP over HTTP.
 *
 * Nothing is registered for the whole process: the span that is running is kept here. Spans are sent in
 * batches behind everything else; a collector that can't be reached loses them, and nobody waits for it. The
 * library reads the other OTEL_ variables by itself: OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, …
 */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  isSpanContextValid,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-node";
import type { Span, SpanOptions, Tracer } from "../../ports/telemetry.ts";

const kinds: Record<SpanOptions["kind"], SpanKind> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

/** For one batch; a collector that takes longer is as good as none. */
const exportTimeoutMs = 5_000;
/** How long a span waits for others to be sent with. */
const batchDelayMs = 1_000;

export function createTraces({ collector, version }: { collector: string; version: string }) {
  const exporter = new OTLPTraceExporter({
    url: `${collector.replace(/\/+$/, "")}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
  });
  const processor = new BatchSpanProcessor(exporter, {
    scheduledDelayMillis: batchDelayMs,
    exportTimeoutMillis: exportTimeoutMs,
  });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ "service.name": "tidings", "service.version": version }),
    spanProcessors: [processor],
  });
  return {
    tracer: createTracer(provider),
    async close(graceMs: number): Promise<void> {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      // What could not be sent is lost, which stops nobody.
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

function createTracer(provider: BasicTracerProvider): Tracer {
  const running = new AsyncLocalStorage<Context>();
  const tracer = provider.getTracer("tidings");

  const begin = ({ name, kind, parent, attributes = {} }: SpanOptions): Span => {
    const parentContext = parent === undefined ? (running.getStore() ?? ROOT_CONTEXT) : readParent(parent);
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, parentContext);
    const spanContext = trace.setSpan(parentContext, span);
    return {
      within: (work) => running.run(spanContext, work),
      end({ attributes: more = {}, failure } = {}) {
        span.setAttributes(more);
        if (failure !== undefined) {
          span.setAttribute("error.type", failure);
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  };
  return {
    startSpan: begin,
    async withSpan(facts, work) {
      const span = begin(facts);
      try {
        const result = await span.within(work);
        span.end();
        return result;
      } catch (error) {
        span.end({ failure: errorTypeOf(error) });
        throw error;
      }
    },
    traceparent() {
      const span = trace.getSpan(running.getStore() ?? ROOT_CONTEXT);
      return span && writeParent(span);
    },
  };
}

/** The house's failures by their code, all others by their class. */
function errorTypeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  const isCode = typeof code === "string" && /^[\w.-]{1,64}$/.test(code);
  return isCode ? code : error instanceof Error ? error.name : "unknown";
}

/** W3C Trace Context, level 1; what can't be read begins a new trace. */
function readParent(parent: string | null): Context {
  const [, version, traceId = "", spanId = "", flags = ""] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/.exec(parent ?? "") ?? [];
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return version !== "ff" && isSpanContextValid(context)
    ? trace.setSpanContext(ROOT_CONTEXT, context)
    : ROOT_CONTEXT;
}

function writeParent(span: OtelSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}
