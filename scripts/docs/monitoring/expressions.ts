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
import type { RecordingRule } from "./recording-rules.ts";

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
 * @param rules the recording rules, whose names may be used like metrics.
 */
export function findUnknownSeries(expression: string, rules: readonly RecordingRule[]): readonly string[] {
  const recorded = new Map(rules.map(({ record, expr }) => [record, readRecorded(expr)]));
  const selected = selectorsIn(expression).map((one) => {
    return { ...one, found: known.get(one.metric) ?? recorded.get(one.metric) };
  });
  const problems = selected.flatMap(({ metric, matchers, found }) =>
    found ? findUnknownLabels(metric, found, matchers) : [`there is no metric ${metric}`],
  );
  const labelSets = selected.map(({ found }) => found?.labels);
  const ungrouped = labelsIn(expression).filter(
    (label) => !addedLabels.has(label) && labelSets.every((labels) => labels && !(label in labels)),
  );
  return [...problems, ...ungrouped.map((label) => `no metric has the label ${label}`)];
}

/** The series that a recording rule makes: they have the labels by which it groups. */
function readRecorded(expr: string): KnownMetric {
  const grouped = new Set(labelsIn(expr));
  const labels = selectorsIn(expr).flatMap(({ metric }) => Object.entries(known.get(metric)?.labels ?? {}));
  return { labels: Object.fromEntries(labels.filter(([label]) => grouped.has(label))) };
}

/** What stands after the words that name labels: `sum by (channel) (…)`. */
const grouping = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;

/** The labels by which an expression groups or joins series. */
function labelsIn(expression: string): readonly string[] {
  return Array.from(expression.matchAll(grouping)).flatMap(([, list = ""]) => list.match(/\w+/g) ?? []);
}

export function selectorsIn(expression: string): readonly Selector[] {
  const withoutGrouping = expression.replace(grouping, " ");
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
