/**
 * The figures, in the words of Prometheus.
 *
 * What the house tells is counted at once; what stands in the database is read at a scrape, by one reader at a
 * time and not again within some seconds, so that scrapes cost the same however many there are. A database
 * that does not answer costs its own figures and no others.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { GaugeSources, Gauges, Metrics } from "../../ports/telemetry.ts";

/** From what memory answers to what a client gives up on. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];
/** Jobs wait for their turn, or for an outage to pass. */
const waitBuckets = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3_600];
/** How long what was read from the database is good enough. */
const cacheMs = 5_000;
/** A scrape is not kept waiting for longer by the database. */
const databaseTimeoutMs = 2_000;

/** The methods by their names: a client may make one up. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function createPrometheusMetrics() {
  // Its own: another house in this process has others.
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
  const requestTime = time("http_request_duration_seconds", "From request to answer", ["operation"]);
  const calls = count("mcp_tool_calls_total", "Tool calls over MCP", ["tool", "outcome"]);
  const callTime = time("mcp_tool_call_duration_seconds", "Of a tool call", ["tool"]);
  const jobs = count("job_attempts_total", "Attempts at jobs", ["name", "outcome"]);
  const jobTime = time("job_duration_seconds", "Of an attempt at a job", ["name"]);
  const jobWait = time("job_wait_seconds", "From when a job was due until it began", ["name"], waitBuckets);
  const messages = count("messages_total", "Messages that came to a state", ["state"]);
  const sends = count("channel_sends_total", "Messages handed to a channel", ["channel", "outcome"]);
  const sendTime = time("channel_send_duration_seconds", "Of handing over a message", ["channel"]);
  const webhooks = count("webhook_deliveries_total", "Attempts to tell subscribers", ["outcome"]);
  const webhookTime = time("webhook_delivery_duration_seconds", "Of an attempt to tell a subscriber", []);
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

/** Gauges that are set just before they are shown. */
function createScrape(registry: Registry, sources: GaugeSources): () => Promise<string> {
  const { gauge } = createMetricFactories(registry);
  const waiting = gauge("jobs_waiting", "Jobs in the table; at most 10,000 of a lane", ["group", "when"]);
  const oldest = gauge("jobs_oldest_due_seconds", "How long the oldest due job has waited", ["group"]);
  const dead = gauge("jobs_dead", "Jobs that failed for the last time", ["name"]);
  const isUp = gauge("database_up", "Whether the database told the jobs' figures", []);
  const pool = gauge("database_connections", "The pool's connections in use, and who waits for one", [
    "what",
  ]);
  const read = cacheGauges(sources.gauges);

  const set = ({ lanes, deadLetters: buried }: Gauges) => {
    for (const one of [waiting, oldest, dead]) {
      one.reset();
    }
    for (const { group, due, later, oldestSeconds } of lanes) {
      waiting.set({ group, when: "due" }, due);
      waiting.set({ group, when: "later" }, later);
      oldest.set({ group }, oldestSeconds);
    }
    for (const { name, count } of buried) {
      dead.set({ name }, count);
    }
  };
  return async () => {
    const gauges = await read();
    isUp.set(gauges ? 1 : 0);
    if (gauges) {
      set(gauges);
    }
    const { inUse, waiting: queued } = sources.pool();
    pool.set({ what: "in_use" }, inUse);
    pool.set({ what: "waiting" }, queued);
    return registry.metrics();
  };
}

/** Reads at most once at a time and in five seconds; undefined when there is no answer in time. */
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

/** Every figure of the house begins alike. */
function createMetricFactories(registry: Registry) {
  const named = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) => ({
    name: `tidings_${name}`,
    help,
    labelNames: [...labelNames],
    registers: [registry],
  });
  return {
    count: <Label extends string>(name: string, help: string, labels: readonly Label[]) =>
      new Counter<Label>(named(name, help, labels)),
    gauge: <Label extends string>(name: string, help: string, labels: readonly Label[]) =>
      new Gauge<Label>(named(name, help, labels)),
    time: <Label extends string>(name: string, help: string, labels: readonly Label[], within = buckets) =>
      new Histogram<Label>({ ...named(name, help, labels), buckets: within }),
  };
}
