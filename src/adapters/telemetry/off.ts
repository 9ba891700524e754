/** Telemetry that nobody asked for: it tells nothing, and costs a call that returns at once. */
import type { Metrics, Span, Tracer } from "../../ports/telemetry.ts";

const nothing = () => undefined;

export const noMetrics: Metrics = {
  request: nothing,
  toolCall: nothing,
  job: nothing,
  message: nothing,
  channelSend: nothing,
  webhook: nothing,
};

const noSpan: Span = { within: (work) => work(), end: nothing };

export const noTracer: Tracer = {
  begin: () => noSpan,
  run: (_, work) => work(),
  traceparent: nothing,
};
