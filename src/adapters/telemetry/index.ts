/** Telemetry by setting: what is not asked for is not even loaded. */
import type { Telemetry } from "../../ports/telemetry.ts";
import { noMetrics, noTracer } from "./off.ts";

export interface TelemetryOptions {
  /** Whether figures are kept. */
  readonly isScraped: boolean;
  /** The OTLP collector that takes traces, without `/v1/traces`; none: nobody does. */
  readonly collector: string | undefined;
  readonly version: string;
}

export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { isScraped, collector, version } = options;
  const [figures, traces] = await Promise.all([
    isScraped ? import("./prometheus.ts").then(({ createFigures }) => createFigures()) : undefined,
    collector === undefined
      ? undefined
      : import("./traces.ts").then(({ createTraces }) => createTraces({ collector, version })),
  ]);
  return {
    metrics: figures?.metrics ?? noMetrics,
    tracer: traces?.tracer ?? noTracer,
    scrape: figures?.scrape,
    close: async (graceMs) => traces?.close(graceMs),
  };
}
export { createInstruments, instrumentChannel, instrumentTools } from "./instrument.ts";
