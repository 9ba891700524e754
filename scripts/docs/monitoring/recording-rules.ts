/** Recording rules: figures that alerts and people ask for often. */
import { operationsOf } from "../../../src/platform/index.ts";

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

/** Inputs with which a caller chooses how long the request waits for an event. */
const waitFields = ["wait_seconds", "timeout_seconds"];

/**
 * Operations whose duration says nothing about this service, because they wait for an event, a client or
 * another server; and routes, such as streams, which are no operations.
 */
const unmeasured = Object.entries(operationsOf())
  .filter(
    ([, { effect, input }]) =>
      effect === "outward" || effect === "streamed" || waitFields.some((field) => field in input.shape),
  )
  .map(([name]) => name);

const measured = `operation!~"${[...unmeasured, "/.*"].join("|")}"`;

/** Requests of clients: many answered health checks would hide errors. */
const ofClients = 'operation!~"/healthz|/drainz|/readyz|/metrics"';

/** A call over MCP is counted as its operation too, unless the service answered 5xx before it. */
const countedTwice = 'operation="/mcp",status!="5xx"';

export const recordingRules: readonly RecordingRule[] = [
  {
    record: "tidings:http_requests:rate5m",
    expr: "sum by (operation, status) (rate(tidings_http_requests_total[5m]))",
  },
  {
    record: "tidings:http_errors:ratio5m",
    expr: `(sum(rate(tidings_http_requests_total{${ofClients},status="5xx"}[5m])) or vector(0)) / (sum(rate(tidings_http_requests_total{${ofClients}}[5m])) - (sum(rate(tidings_http_requests_total{${countedTwice}}[5m])) or vector(0)))`,
  },
  {
    record: "tidings:http_request_duration_seconds:p95_5m",
    expr: `histogram_quantile(0.95, sum by (le) (rate(tidings_http_request_duration_seconds_bucket{${measured}}[5m])))`,
  },
  {
    record: "tidings:messages:rate5m",
    expr: "sum by (state) (rate(tidings_messages_total[5m]))",
  },
  {
    record: "tidings:channel_sends:rate15m",
    expr: "sum by (channel, outcome) (rate(tidings_channel_sends_total[15m]))",
  },
  {
    record: "tidings:channel_failures:ratio15m",
    expr: '(sum by (channel) (rate(tidings_channel_sends_total{outcome=~"refused|stopped|unknown"}[15m])) or sum by (channel) (rate(tidings_channel_sends_total[15m])) * 0) / sum by (channel) (rate(tidings_channel_sends_total[15m]))',
  },
  {
    record: "tidings:webhook_failures:ratio15m",
    expr: 'sum(rate(tidings_webhook_deliveries_total{outcome!="delivered"}[15m])) / sum(rate(tidings_webhook_deliveries_total[15m]))',
  },
  {
    record: "tidings:jobs_oldest_due_seconds:max",
    expr: "max by (group, priority) (tidings_jobs_oldest_due_seconds)",
  },
  {
    record: "tidings:jobs_dead:max",
    expr: "max by (name) (tidings_jobs_dead)",
  },
];
