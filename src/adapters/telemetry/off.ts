/** Disabled telemetry: every call does nothing. */
import type { Metrics, Span, Tracer } from "../../ports/telemetry/telemetry.ts";

const noop = () => undefined;

export const noMetrics: Metrics = {
  request: noop,
  toolCall: noop,
  job: noop,
  message: noop,
  channelSend: noop,
  webhook: noop,
};

const noSpan: Span = { within: (run) => run(), end: noop };

export const noTracer: Tracer = {
  startSpan: () => noSpan,
  withSpan: (_, run) => run(),
  traceparent: noop,
};
