/**
 * Finds the metrics and labels that a PromQL expression uses, and what of them does not exist.
 *
 * Prometheus accepts an expression with a misspelt metric, and answers nothing: such an alert never fires.
 */
import { collectDefaultMetrics, Registry } from "prom-client";
import {
  type MetricDescription,
  metricCatalogue,
  metricPrefix,
} from "../../../src/adapters/telemetry/metric-catalogue.ts";

interface KnownMetric {
  /** As in the catalogue; undefined for labels that are not checked. */
  readonly labels: MetricDescription["labels"] | undefined;
}

/** What Prometheus adds to each series, and `le` of histograms. */
const addedLabels = new Set(["instance", "job", "le"]);
const operators = new Set(["and", "or", "unless", "offset", "bool"]);

const known: ReadonlyMap<string, KnownMetric> = new Map<string, KnownMetric>([
  // Recorded by Prometheus for each scrape.
  ["up", { labels: {} }],
  ...libraryMetrics(),
  ...Object.entries<MetricDescription>(metricCatalogue).flatMap(([name, { kind, labels }]) => {
    const names = withSuffixes(`${metricPrefix}${name}`, kind);
    return names.map((series): [string, KnownMetric] => [series, { labels }]);
  }),
]);

/** The names of the series of a metric. */
function withSuffixes(name: string, kind: string): readonly string[] {
  return kind === "histogram" ? ["_bucket", "_sum", "_count"].map((suffix) => name + suffix) : [name];
}

function libraryMetrics(): readonly [string, KnownMetric][] {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const names = registry
    .getMetricsAsArray()
    .flatMap((metric) => withSuffixes(metric.name, String(metric.type)));
  registry.clear();
  return names.map((name) => [name, { labels: undefined }]);
}

interface Selector {
  readonly metric: string;
  /** The text between the braces. */
  readonly matchers: string;
}

/**
 * What is wrong with the names of the expression; empty if nothing is.
 * @param recorded the names of recording rules, which may be used like metrics.
 */
export function findUnknownSeries(expression: string, recorded: ReadonlySet<string>): readonly string[] {
  return selectorsIn(expression).flatMap(({ metric, matchers }) => {
    if (recorded.has(metric)) {
      return [];
    }
    const found = known.get(metric);
    return found ? findUnknownLabels(metric, found, matchers) : [`there is no metric ${metric}`];
  });
}

export function selectorsIn(expression: string): readonly Selector[] {
  const withoutGrouping = expression.replace(
    /\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g,
    " ",
  );
  return Array.from(withoutGrouping.matchAll(selector), ([, metric, matchers = ""]) => ({ metric, matchers }))
    .filter((found): found is Selector => found.metric !== undefined)
    .filter(({ metric }) => !operators.has(metric));
}

/** A text, or a name that is not followed by the parenthesis of a function, with its matchers. */
const selector =
  /"(?:[^"\\]|\\.)*"|(?<![\w.:$])([a-zA-Z_:][\w:]*)(?![\w:]|\s*\()(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?/g;

function findUnknownLabels(metric: string, { labels }: KnownMetric, matchers: string): readonly string[] {
  return Array.from(matchers.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)).flatMap(
    ([, label = "", operator = "", value = ""]) => {
      if (labels === undefined || addedLabels.has(label)) {
        return [];
      }
      const values = labels[label];
      if (values === undefined) {
        return [`${metric} has no label ${label}`];
      }
      const wanted = operator.endsWith("~") ? value.split("|") : [value];
      return typeof values === "string"
        ? []
        : wanted.filter((one) => !values.includes(one)).map((one) => `${metric} has no ${label}="${one}"`);
    },
  );
}
