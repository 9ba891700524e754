/** Telemetry that nobody asked for: it tells nothing, and costs a call that returns at once. */
import type { Metrics, Span, Tracer } from "../../ports/telemetry.ts";

const noop = () => undefined;

export const noMetrics: Metrics = {
  request: noop,
  toolCall: noop,
  job: noop,
  message: noop,
  channelSend: noop,
  webhook: noop,
};

const noSpan: Span = { within: (work) => work(), end: noop };

export const noTracer: Tracer = {
  startSpan: () => noSpan,
  withSpan: (_, work) => work(),
  traceparent: noop,
};
