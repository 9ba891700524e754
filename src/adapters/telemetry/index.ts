/** Opens telemetry according to the settings; disabled parts are not loaded. */
import type { Telemetry } from "../../ports/telemetry/telemetry.ts";
import { noMetrics, noTracer } from "./off.ts";

export interface TelemetryOptions {
  /** Whether metrics are collected. */
  readonly isScraped: boolean;
  /** The OTLP collector for traces, without `/v1/traces`; undefined: no traces. */
  readonly collector: string | undefined;
  readonly version: string;
}

export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { isScraped, collector, version } = options;
  const [prometheus, traces] = await Promise.all([
    isScraped
      ? import("./prometheus.ts").then(({ createPrometheusMetrics }) => createPrometheusMetrics(version))
      : undefined,
    collector === undefined
      ? undefined
      : import("./traces.ts").then(({ createTraces }) => createTraces({ collector, version })),
  ]);
  return {
    metrics: prometheus?.metrics ?? noMetrics,
    tracer: traces?.tracer ?? noTracer,
    scrape: prometheus?.scrape,
    close: async () => traces?.close(),
  };
}
export { createInstruments, instrumentTools } from "./instrument.ts";
