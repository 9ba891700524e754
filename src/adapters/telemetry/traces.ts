/**
 * OpenTelemetry spans, sent to a collector by OTLP over HTTP.
 *
 * Nothing is registered globally; the current span is kept here. Spans are sent in batches in the background.
 * If the collector can't be reached, spans are lost, and nothing waits for it. The library itself reads the
 * other OTEL_ variables: OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, …
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
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-node";
import type { Span, SpanOptions, Tracer } from "../../ports/telemetry/telemetry.ts";

/** How long sending the last spans may take when the app stops. */
const closeMs = 2_000;

const kinds: Record<SpanOptions["kind"], SpanKind> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

/** Timeout of one batch. */
const exportTimeoutMs = 5_000;
/** How long a span waits for the rest of its batch. */
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
  const defaults = resourceFromAttributes({ "service.name": "tidings", "service.version": version });
  const provider = new BasicTracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take the place of the defaults.
    resource: defaults.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [processor],
  });
  return {
    tracer: createTracer(provider),
    async close(): Promise<void> {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, closeMs);
      });
      // Spans that can't be sent are lost and must not delay the shutdown.
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

function createTracer(provider: BasicTracerProvider): Tracer {
  const current = new AsyncLocalStorage<Context>();
  const tracer = provider.getTracer("tidings");

  const startSpan = ({ name, kind, parent, attributes = {} }: SpanOptions): Span => {
    const parentContext = parent === undefined ? (current.getStore() ?? ROOT_CONTEXT) : readParent(parent);
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, parentContext);
    const spanContext = trace.setSpan(parentContext, span);
    return {
      within: (run) => current.run(spanContext, run),
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
    startSpan,
    async withSpan(options, run) {
      const span = startSpan(options);
      try {
        const result = await span.within(run);
        span.end();
        return result;
      } catch (error) {
        span.end({ failure: errorTypeOf(error) });
        throw error;
      }
    },
    traceparent() {
      const span = trace.getSpan(current.getStore() ?? ROOT_CONTEXT);
      return span && writeParent(span);
    },
  };
}

/** The code of an error, or its class if it has no code. */
function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return "unknown";
  }
  const code = "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[\w.-]{1,64}$/.test(code) ? code : error.name;
}

/** W3C Trace Context, level 1; an invalid header starts a new trace. */
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
