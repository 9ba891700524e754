/**
 * The metrics of the service: their names without the prefix, what they say, and their labels.
 *
 * From here come the series of GET /metrics, docs/reference/metrics.md, and the check of every expression in
 * deploy/monitoring/. The library adds the metrics of the process, process_… and nodejs_….
 */

/** Before each name. */
export const metricPrefix = "tidings_";

export interface MetricDescription {
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** For each label, its possible values, or what names it. */
  readonly labels: Readonly<Record<string, readonly string[] | string>>;
  /** Whether the value is read from the database, so that it is the same in every process. */
  readonly isShared?: true;
  /** Upper bounds of a histogram, in seconds. */
  readonly buckets?: readonly number[];
}

/** From an answer out of memory to the timeout of a client. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];
/** Jobs wait in a queue, or until an outage ends. */
const waits = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3_600];

const operation = "operation, or route if it has none";
const lane = {
  group: "kind of lane, such as channel or webhook, or the name of a job that has no lane of its own",
  priority: ["normal", "bulk"],
} as const;

export const metricCatalogue = {
  build_info: {
    kind: "gauge",
    help: "Always 1, with the version of the service",
    labels: { version: "version" },
  },
  http_requests_total: {
    kind: "counter",
    help: "Requests answered, or whose connection was closed before the answer, which counts as 4xx",
    labels: { operation, method: "HTTP method, or other", status: "class of the status, such as 2xx" },
  },
  http_request_duration_seconds: {
    kind: "histogram",
    help: "Duration of a request",
    labels: { operation },
    buckets: durations,
  },
  mcp_tool_calls_total: {
    kind: "counter",
    help: "Tool calls over MCP",
    labels: { tool: "tool, or unknown", outcome: ["done", "failed", "refused"] },
  },
  mcp_tool_call_duration_seconds: {
    kind: "histogram",
    help: "Duration of a tool call",
    labels: { tool: "tool, or unknown" },
    buckets: durations,
  },
  job_attempts_total: {
    kind: "counter",
    help: "Attempts at jobs",
    labels: { name: "job", outcome: ["done", "again", "failed"] },
  },
  job_duration_seconds: {
    kind: "histogram",
    help: "Duration of an attempt at a job",
    labels: { name: "job" },
    buckets: durations,
  },
  job_wait_seconds: {
    kind: "histogram",
    help: "Time from when a job was due until it started",
    labels: { name: "job" },
    buckets: waits,
  },
  messages_total: {
    kind: "counter",
    help: "Messages that reached a state",
    labels: { state: ["received", "queued", "sent", "delivered", "read", "failed"] },
  },
  channel_sends_total: {
    kind: "counter",
    help: "Messages sent to a channel",
    labels: { channel: "channel", outcome: ["accepted", "refused", "busy", "stopped", "unknown"] },
  },
  channel_send_duration_seconds: {
    kind: "histogram",
    help: "Duration of sending a message to a channel",
    labels: { channel: "channel" },
    buckets: durations,
  },
  webhook_deliveries_total: {
    kind: "counter",
    help: "Attempts at webhook deliveries",
    labels: { outcome: ["delivered", "refused", "unreachable"] },
  },
  webhook_deliveries_failed_total: {
    kind: "counter",
    help: "Webhook deliveries whose last attempt failed; they are not tried again by themselves",
    labels: {},
  },
  webhook_delivery_duration_seconds: {
    kind: "histogram",
    help: "Duration of an attempt at a webhook delivery",
    labels: {},
    buckets: durations,
  },
  jobs_waiting: {
    kind: "gauge",
    help: "Jobs in the table; at most 10,000 are counted for each lane",
    labels: { ...lane, when: ["due", "later"] },
    isShared: true,
  },
  jobs_oldest_due_seconds: {
    kind: "gauge",
    help: "How long the oldest due job has waited",
    labels: lane,
    isShared: true,
  },
  jobs_dead: {
    kind: "gauge",
    help: "Jobs in the dead-letter queue",
    labels: { name: "job" },
    isShared: true,
  },
  database_up: {
    kind: "gauge",
    help: "Whether the database answered the last scrape",
    labels: {},
  },
  database_connections: {
    kind: "gauge",
    help: "Connections of the pool in use, and requests that wait for one",
    labels: { what: ["in_use", "waiting"] },
  },
  database_statements_total: {
    kind: "counter",
    help: "Statements sent to the database",
    labels: {},
  },
  database_waits_total: {
    kind: "counter",
    help: "Round trips to the database; statements that are sent together are one",
    labels: {},
  },
  clock_difference_seconds: {
    kind: "gauge",
    help: "How far the clock of this machine is ahead of the database's, whose time is used",
    labels: {},
  },
} as const satisfies Readonly<Record<string, MetricDescription>>;
