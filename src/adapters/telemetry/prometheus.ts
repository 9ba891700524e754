/**
 * Metrics for Prometheus.
 *
 * Events are counted when they happen. Gauges of the database are read at a scrape, by one reader at a time
 * and cached for a few seconds, so that the cost does not depend on the number of scrapes. If the database
 * does not answer, only its gauges are missing.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { GaugeSources, Gauges, Metrics } from "../../ports/telemetry/telemetry.ts";
import { type MetricDescription, metricCatalogue, metricPrefix } from "./metric-catalogue.ts";

const cacheMs = 5_000;
/** The longest that a scrape waits for the database. */
const databaseTimeoutMs = 2_000;

/** Other methods count as "other": a client may invent methods, and each would create a series. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function createPrometheusMetrics(version: string) {
  // Not the global registry, because several apps may run in one process.
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  createMetricFactories(registry).gauge("build_info").set({ version }, 1);
  return {
    metrics: createMetrics(registry),
    scrape: (sources: GaugeSources) => createScrape(registry, sources),
  };
}

function createMetrics(registry: Registry): Metrics {
  const { count, time } = createMetricFactories(registry);
  const requests = count("http_requests_total");
  const requestTime = time("http_request_duration_seconds");
  const calls = count("mcp_tool_calls_total");
  const callTime = time("mcp_tool_call_duration_seconds");
  const jobs = count("job_attempts_total");
  const jobTime = time("job_duration_seconds");
  const jobWait = time("job_wait_seconds");
  const messages = count("messages_total");
  const sends = count("channel_sends_total");
  const sendTime = time("channel_send_duration_seconds");
  const webhooks = count("webhook_deliveries_total");
  const webhookFailures = count("webhook_deliveries_failed_total");
  const webhookTime = time("webhook_delivery_duration_seconds");
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
    webhook({ outcome, seconds, isLast }) {
      webhooks.inc({ outcome });
      webhookTime.observe({}, seconds);
      if (isLast && outcome !== "delivered") {
        webhookFailures.inc({});
      }
    },
  };
}

/** Sets the gauges at each scrape. */
function createScrape(registry: Registry, sources: GaugeSources): () => Promise<string> {
  const { count, gauge } = createMetricFactories(registry);
  const waiting = gauge("jobs_waiting");
  const oldest = gauge("jobs_oldest_due_seconds");
  const dead = gauge("jobs_dead");
  const isUp = gauge("database_up");
  const pool = gauge("database_connections");
  const statements = count("database_statements_total");
  const waits = count("database_waits_total");
  const clock = gauge("clock_difference_seconds");
  const read = cacheGauges(sources.gauges);

  const set = ({ lanes, deadLetters }: Gauges) => {
    for (const { group, isBulk, due, later, oldestSeconds } of lanes) {
      const priority = isBulk ? "bulk" : "normal";
      waiting.set({ group, priority, when: "due" }, due);
      waiting.set({ group, priority, when: "later" }, later);
      oldest.set({ group, priority }, oldestSeconds);
    }
    for (const { name, count } of deadLetters) {
      dead.set({ name }, count);
    }
  };
  return async () => {
    const gauges = await read();
    isUp.set({}, gauges ? 1 : 0);
    for (const each of [waiting, oldest, dead]) {
      each.reset();
    }
    if (gauges) {
      set(gauges);
    }
    const { inUse, waiting: queued, ...sent } = sources.pool();
    pool.set({ what: "in_use" }, inUse);
    pool.set({ what: "waiting" }, queued);
    clock.set({}, (sources.machineAheadMs() ?? 0) / 1000);
    // The values of the pool's own counters. A counter here can't be set, only increased.
    statements.reset();
    statements.inc({}, sent.statements);
    waits.reset();
    waits.inc({}, sent.waits);
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

type Catalogue = typeof metricCatalogue;

type NameOf<Kind extends MetricDescription["kind"]> = {
  [Name in keyof Catalogue]: Catalogue[Name]["kind"] extends Kind ? Name : never;
}[keyof Catalogue];

/** Exactly the labels of the metric; one whose values the catalogue lists has one of them. */
type LabelsOf<Name extends keyof Catalogue> = {
  [Label in keyof Catalogue[Name]["labels"]]: Catalogue[Name]["labels"][Label] extends readonly (infer Value extends
    string)[]
    ? Value
    : string;
};

interface LabeledCounter<Labels> {
  inc(labels: Labels, by?: number): void;
  reset(): void;
}

interface LabeledGauge<Labels> {
  set(labels: Labels, value: number): void;
  reset(): void;
}

interface LabeledHistogram<Labels> {
  observe(labels: Labels, seconds: number): void;
}

function createMetricFactories(registry: Registry) {
  const describe = (name: keyof Catalogue) => {
    const { help, labels, buckets = [] }: MetricDescription = metricCatalogue[name];
    return {
      name: `${metricPrefix}${name}`,
      help,
      labelNames: Object.keys(labels),
      registers: [registry],
      buckets: [...buckets],
    };
  };
  return {
    count<Name extends NameOf<"counter">>(name: Name): LabeledCounter<LabelsOf<Name>> {
      const counter = new Counter(describe(name));
      return { inc: (labels, by = 1) => counter.inc(labels, by), reset: () => counter.reset() };
    },
    gauge<Name extends NameOf<"gauge">>(name: Name): LabeledGauge<LabelsOf<Name>> {
      const gauge = new Gauge(describe(name));
      return { set: (labels, value) => gauge.set(labels, value), reset: () => gauge.reset() };
    },
    time<Name extends NameOf<"histogram">>(name: Name): LabeledHistogram<LabelsOf<Name>> {
      const histogram = new Histogram(describe(name));
      return { observe: (labels, seconds) => histogram.observe(labels, seconds) };
    },
  };
}
