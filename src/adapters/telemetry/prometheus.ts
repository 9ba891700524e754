/**
 * Metrics for Prometheus.
 *
 * Events are counted when they happen. Gauges of the database are read at a scrape, by one reader at a time
 * and cached for a few seconds, so that the cost does not depend on the number of scrapes. If the database
 * does not answer, only its gauges are missing.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { GaugeSources, Gauges, Metrics } from "../../ports/telemetry/telemetry.ts";

/** In seconds: from an answer out of memory to the timeout of a client. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];
/** In seconds: jobs wait in a queue, or until an outage ends. */
const waitBuckets = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3_600];
const cacheMs = 5_000;
/** The longest that a scrape waits for the database. */
const databaseTimeoutMs = 2_000;

/** Other methods count as "other": a client may invent methods, and each would create a series. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function createPrometheusMetrics() {
  // Not the global registry, because several apps may run in one process.
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    metrics: createMetrics(registry),
    scrape: (sources: GaugeSources) => createScrape(registry, sources),
  };
}

function createMetrics(registry: Registry): Metrics {
  const { count, time } = createMetricFactories(registry);
  const requests = count("http_requests_total", "Requests answered", ["operation", "method", "status"]);
  const requestTime = time("http_request_duration_seconds", "Duration of a request", ["operation"]);
  const calls = count("mcp_tool_calls_total", "Tool calls over MCP", ["tool", "outcome"]);
  const callTime = time("mcp_tool_call_duration_seconds", "Duration of a tool call", ["tool"]);
  const jobs = count("job_attempts_total", "Attempts at jobs", ["name", "outcome"]);
  const jobTime = time("job_duration_seconds", "Duration of an attempt at a job", ["name"]);
  const jobWait = time(
    "job_wait_seconds",
    "Time from when a job was due until it started",
    ["name"],
    waitBuckets,
  );
  const messages = count("messages_total", "Messages that reached a state", ["state"]);
  const sends = count("channel_sends_total", "Messages sent to a channel", ["channel", "outcome"]);
  const sendTime = time("channel_send_duration_seconds", "Duration of sending a message to a channel", [
    "channel",
  ]);
  const webhooks = count("webhook_deliveries_total", "Attempts at webhook deliveries", ["outcome"]);
  const webhookTime = time(
    "webhook_delivery_duration_seconds",
    "Duration of an attempt at a webhook delivery",
    [],
  );
  return {
    request({ operation, method, status, seconds }) {
      const known = methods.has(method) ? method : "other";
      requests.inc({ operation, method: known, status: `${Math.floor(status / 100)}xx` });
      requestTime.observe({ operation }, seconds);
    },
    toolCall({ tool, outcome, seconds }) {
      calls.inc({ tool, outcome });
      callTime.observe({ tool }, seconds);
    },
    job({ name, outcome, seconds, waited }) {
      jobs.inc({ name, outcome });
      jobTime.observe({ name }, seconds);
      jobWait.observe({ name }, waited);
    },
    message: (state) => messages.inc({ state }),
    channelSend({ channel, outcome, seconds }) {
      sends.inc({ channel, outcome });
      sendTime.observe({ channel }, seconds);
    },
    webhook({ outcome, seconds }) {
      webhooks.inc({ outcome });
      webhookTime.observe(seconds);
    },
  };
}

/** Sets the gauges at each scrape. */
function createScrape(registry: Registry, sources: GaugeSources): () => Promise<string> {
  const { count, gauge } = createMetricFactories(registry);
  const waiting = gauge("jobs_waiting", "Jobs in the table; at most 10,000 are counted for each lane", [
    "group",
    "when",
  ]);
  const oldest = gauge("jobs_oldest_due_seconds", "How long the oldest due job has waited", ["group"]);
  const dead = gauge("jobs_dead", "Jobs in the dead-letter queue", ["name"]);
  const isUp = gauge("database_up", "Whether the database answered the last scrape", []);
  const pool = gauge(
    "database_connections",
    "Connections of the pool in use, and requests that wait for one",
    ["what"],
  );
  const statements = count("database_statements_total", "Statements sent to the database", []);
  const waits = count(
    "database_waits_total",
    "Round trips to the database; statements that are sent together are one",
    [],
  );
  const clock = gauge(
    "clock_difference_seconds",
    "How far the clock of this machine is ahead of the database's, whose time is used",
    [],
  );
  const read = cacheGauges(sources.gauges);

  const set = ({ lanes, deadLetters }: Gauges) => {
    for (const each of [waiting, oldest, dead]) {
      each.reset();
    }
    for (const { group, due, later, oldestSeconds } of lanes) {
      waiting.set({ group, when: "due" }, due);
      waiting.set({ group, when: "later" }, later);
      oldest.set({ group }, oldestSeconds);
    }
    for (const { name, count } of deadLetters) {
      dead.set({ name }, count);
    }
  };
  return async () => {
    const gauges = await read();
    isUp.set(gauges ? 1 : 0);
    if (gauges) {
      set(gauges);
    }
    const { inUse, waiting: queued, ...sent } = sources.pool();
    pool.set({ what: "in_use" }, inUse);
    pool.set({ what: "waiting" }, queued);
    clock.set((sources.machineAheadMs() ?? 0) / 1000);
    // The values of the pool's own counters. A counter here can't be set, only increased.
    statements.reset();
    statements.inc(sent.statements);
    waits.reset();
    waits.inc(sent.waits);
    return registry.metrics();
  };
}

/** Reads at most once per `cacheMs`. Undefined if the database does not answer in time. */
function cacheGauges(read: () => Promise<Gauges>): () => Promise<Gauges | undefined> {
  let last: { readonly at: number; readonly gauges: Promise<Gauges | undefined> } | undefined;
  return async () => {
    if (!last || performance.now() - last.at > cacheMs) {
      last = { at: performance.now(), gauges: read().catch(() => undefined) };
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, databaseTimeoutMs, undefined);
    });
    const gauges = await Promise.race([last.gauges, late]);
    clearTimeout(timer);
    return gauges;
  };
}

/** All metrics are named `tidings_…`. */
function createMetricFactories(registry: Registry) {
  const describe = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) => ({
    name: `tidings_${name}`,
    help,
    labelNames: [...labelNames],
    registers: [registry],
  });
  return {
    count: <Label extends string>(name: string, help: string, labels: readonly Label[]) =>
      new Counter<Label>(describe(name, help, labels)),
    gauge: <Label extends string>(name: string, help: string, labels: readonly Label[]) =>
      new Gauge<Label>(describe(name, help, labels)),
    time: <Label extends string>(name: string, help: string, labels: readonly Label[], limits = buckets) =>
      new Histogram<Label>({ ...describe(name, help, labels), buckets: limits }),
  };
}
