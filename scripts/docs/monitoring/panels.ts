/** The panels of the dashboard, row by row. */

/** `$instance` stands for the chosen processes, `$__rate_interval` for the interval that Grafana computes. */
export interface Panel {
  readonly title: string;
  readonly queries: Readonly<Record<string, string>>;
  /** A unit of Grafana; default: a plain number. */
  readonly unit?: string;
  /** Whether values may be below 0. */
  readonly isSigned?: true;
  /** One figure in place of a curve. */
  readonly isFigure?: true;
  readonly description?: string;
}

export interface PanelRow {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const of = (name: string, matchers = "") =>
  `${name}{instance=~"$instance"${matchers === "" ? "" : `,${matchers}`}}`;
const rate = (name: string, matchers?: string) => `rate(${of(name, matchers)}[$__rate_interval])`;
const sum = (label: string, name: string, matchers?: string) => `sum by (${label}) (${rate(name, matchers)})`;
const total = (name: string, matchers?: string) => `sum(${rate(name, matchers)})`;
const quantile = (share: number, name: string, label?: string) =>
  `histogram_quantile(${share}, sum by (${label === undefined ? "le" : `${label}, le`}) (${rate(`${name}_bucket`)}))`;
/** Read from the database: the same in every process, so the choice of processes does not matter. */
const shared = (label: string, metric: string) => `max by (${label}) (${metric})`;

const overview: PanelRow = {
  title: "Overview",
  panels: [
    {
      title: "Processes",
      queries: { "": 'sum(up{job="tidings"})' },
      isFigure: true,
    },
    {
      title: "Requests",
      // A call over MCP is counted as its operation too.
      queries: { "": total("tidings_http_requests_total", 'operation!="/mcp"') },
      unit: "reqps",
      isFigure: true,
    },
    {
      title: "Answered with 5xx",
      queries: { "": "tidings:http_errors:ratio5m" },
      unit: "percentunit",
      isFigure: true,
    },
    {
      title: "Oldest due job",
      queries: {
        "": 'max(tidings_jobs_oldest_due_seconds{priority="normal",group!~"webhook|flow-call"}) or vector(0)',
      },
      unit: "s",
      isFigure: true,
      description: "Without the messages of broadcasts, and without calls of receivers.",
    },
    {
      title: "Dead-letter jobs",
      queries: { "": "sum(max by (name) (tidings_jobs_dead)) or vector(0)" },
      isFigure: true,
    },
    {
      title: "Versions",
      queries: { "{{version}}": "count by (version) (tidings_build_info)" },
      isFigure: true,
    },
  ],
};

const requests: PanelRow = {
  title: "Requests",
  panels: [
    {
      title: "Requests by status",
      queries: { "{{status}}": sum("status", "tidings_http_requests_total") },
      unit: "reqps",
    },
    {
      title: "Duration of requests",
      queries: {
        p50: quantile(0.5, "tidings_http_request_duration_seconds"),
        p95: quantile(0.95, "tidings_http_request_duration_seconds"),
        "p95 without calls that wait": "tidings:http_request_duration_seconds:p95_5m",
      },
      unit: "s",
    },
    {
      title: "Most frequent operations",
      queries: { "{{operation}}": `topk(10, ${sum("operation", "tidings_http_requests_total")})` },
      unit: "reqps",
    },
    {
      title: "Slowest operations (p95)",
      queries: {
        "{{operation}}": `topk(10, ${quantile(0.95, "tidings_http_request_duration_seconds", "operation")})`,
      },
      unit: "s",
    },
    {
      title: "Errors by operation",
      queries: {
        "{{operation}} {{status}}": `topk(10, ${sum("operation, status", "tidings_http_requests_total", 'status=~"4xx|5xx"')} > 0)`,
      },
      unit: "reqps",
    },
    {
      title: "Tool calls by outcome",
      queries: { "{{outcome}}": sum("outcome", "tidings_mcp_tool_calls_total") },
      unit: "reqps",
    },
    {
      title: "Slowest tools (p95)",
      queries: {
        "{{tool}}": `topk(10, ${quantile(0.95, "tidings_mcp_tool_call_duration_seconds", "tool")})`,
      },
      unit: "s",
    },
  ],
};

const messages: PanelRow = {
  title: "Messages and channels",
  panels: [
    {
      title: "Messages that reached a state",
      queries: { "{{state}}": sum("state", "tidings_messages_total") },
      unit: "cps",
    },
    {
      title: "Sends by channel and outcome",
      queries: { "{{channel}} {{outcome}}": sum("channel, outcome", "tidings_channel_sends_total") },
      unit: "cps",
      description: "busy: tried again. stopped: the inbox can't send until its account is put right.",
    },
    {
      title: "Duration of sends (p95)",
      queries: { "{{channel}}": quantile(0.95, "tidings_channel_send_duration_seconds", "channel") },
      unit: "s",
    },
    {
      title: "Sends that are not accepted",
      queries: { "{{channel}}": "tidings:channel_failures:ratio15m" },
      unit: "percentunit",
    },
    {
      title: "Time until a message is sent (p95)",
      queries: {
        "": `histogram_quantile(0.95, sum by (le) (${rate("tidings_job_wait_seconds_bucket", 'name="message.deliver"')}))`,
      },
      unit: "s",
      description: "From when it was due until the send began. Messages of broadcasts wait longest.",
    },
  ],
};

const jobs: PanelRow = {
  title: "Jobs",
  panels: [
    {
      title: "Due jobs",
      queries: {
        "{{group}} {{priority}}": shared("group, priority", 'tidings_jobs_waiting{when="due"}'),
      },
    },
    {
      title: "Age of the oldest due job",
      queries: { "{{group}} {{priority}}": "tidings:jobs_oldest_due_seconds:max" },
      unit: "s",
    },
    {
      title: "Jobs for later",
      queries: {
        "{{group}}": `sum by (group) (${shared("group, priority", 'tidings_jobs_waiting{when="later"}')})`,
      },
    },
    {
      title: "Attempts by outcome",
      queries: { "{{outcome}}": sum("outcome", "tidings_job_attempts_total") },
      unit: "ops",
    },
    {
      title: "Slowest jobs (p95)",
      queries: { "{{name}}": `topk(10, ${quantile(0.95, "tidings_job_duration_seconds", "name")})` },
      unit: "s",
    },
    {
      title: "Failing jobs",
      queries: {
        "{{name}}": `topk(10, ${sum("name", "tidings_job_attempts_total", 'outcome="failed"')} > 0)`,
      },
      unit: "ops",
    },
    {
      title: "Dead-letter jobs",
      queries: { "{{name}}": "tidings:jobs_dead:max" },
    },
  ],
};

const webhooks: PanelRow = {
  title: "Webhooks",
  panels: [
    {
      title: "Attempts by outcome",
      queries: { "{{outcome}}": sum("outcome", "tidings_webhook_deliveries_total") },
      unit: "ops",
    },
    {
      title: "Duration of attempts",
      queries: {
        p50: quantile(0.5, "tidings_webhook_delivery_duration_seconds"),
        p95: quantile(0.95, "tidings_webhook_delivery_duration_seconds"),
      },
      unit: "s",
    },
    {
      title: "Deliveries that failed for the last time, in an hour",
      queries: { "": `sum(increase(${of("tidings_webhook_deliveries_failed_total")}[1h]))` },
    },
  ],
};

const database: PanelRow = {
  title: "Database",
  panels: [
    {
      title: "Connections",
      queries: { "{{instance}} {{what}}": of("tidings_database_connections") },
      description: "waiting: requests that wait for a connection.",
    },
    {
      title: "Database answers",
      queries: { "{{instance}}": of("tidings_database_up") },
      description: "1: the last scrape got an answer.",
    },
    {
      title: "Statements and round trips",
      queries: {
        statements: total("tidings_database_statements_total"),
        "round trips": total("tidings_database_waits_total"),
      },
      unit: "ops",
    },
    {
      title: "Difference to the clock of the database",
      queries: { "{{instance}}": of("tidings_clock_difference_seconds") },
      isSigned: true,
      unit: "s",
    },
  ],
};

const processes: PanelRow = {
  title: "Processes",
  panels: [
    {
      title: "Memory",
      queries: {
        "{{instance}} resident": of("process_resident_memory_bytes", 'job="tidings"'),
        "{{instance}} heap": of("nodejs_heap_size_used_bytes", 'job="tidings"'),
      },
      unit: "bytes",
    },
    {
      title: "Processor time",
      queries: { "{{instance}}": rate("process_cpu_seconds_total", 'job="tidings"') },
      unit: "percentunit",
      description: "100 % is one core.",
    },
    {
      title: "Lag of the event loop (p99)",
      queries: { "{{instance}}": of("nodejs_eventloop_lag_p99_seconds", 'job="tidings"') },
      unit: "s",
    },
    {
      title: "Garbage collection",
      queries: {
        "{{instance}}": `sum by (instance) (${rate("nodejs_gc_duration_seconds_sum", 'job="tidings"')})`,
      },
      unit: "percentunit",
    },
    {
      title: "Open files and sockets",
      queries: { "{{instance}}": of("process_open_fds", 'job="tidings"') },
    },
    {
      title: "Time since the start",
      queries: { "{{instance}}": `time() - ${of("process_start_time_seconds", 'job="tidings"')}` },
      unit: "s",
    },
  ],
};

export const panelRows: readonly PanelRow[] = [
  overview,
  requests,
  messages,
  jobs,
  webhooks,
  database,
  processes,
];
