/** docs/reference/metrics.md: every metric of the service, its labels and their values. */
import {
  type MetricDescription,
  metricCatalogue,
  metricPrefix,
} from "../../src/adapters/telemetry/metric-catalogue.ts";
import { code, type Page, table } from "./markdown.ts";

const descriptions: Readonly<Record<string, MetricDescription>> = metricCatalogue;

export function metricsPage(): Page {
  const rows = Object.entries(descriptions).map(([name, { kind, help, labels, isShared }]) => [
    code(`${metricPrefix}${name}`),
    kind,
    Object.entries(labels).map(describeLabel).join("; "),
    isShared ? `${help}. The same in every process` : help,
  ]);
  const body = `# Metrics

What \`GET /metrics\` answers ([how to scrape it](../operations.md#metrics)). A histogram \`NAME\` has the series \`NAME_bucket\`, \`NAME_sum\` and \`NAME_count\`. A metric that is "the same in every process" is read from the database: take the largest value, not the sum.

${table(["Metric", "Kind", "Labels", "What it says"], rows)}

Beside them are the metrics of [prom-client](https://github.com/siimon/prom-client) about the process: \`process_cpu_seconds_total\`, \`process_resident_memory_bytes\`, \`process_start_time_seconds\`, \`process_open_fds\`, \`nodejs_eventloop_lag_p99_seconds\`, \`nodejs_heap_size_used_bytes\` and others.

[Production](../production.md#watch-it) has a dashboard and alerts made of them, the [runbook](../runbook.md) what to do.`;
  return { source: "src/adapters/telemetry/metric-catalogue.ts", body };
}

function describeLabel([name, values]: readonly [string, readonly string[] | string]): string {
  return `${code(name)}: ${typeof values === "string" ? values : values.map(code).join(", ")}`;
}
