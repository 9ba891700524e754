/** Every PromQL expression of the rules and of the dashboard, without the variables of Grafana. */
import { alerts } from "./alerts.ts";
import { panelRows } from "./panels.ts";
import { recordingRules } from "./recording-rules.ts";

const ofPanels = panelRows.flatMap(({ panels }) => panels.flatMap(({ queries }) => Object.values(queries)));

export const expressions: readonly string[] = [
  ...recordingRules.map(({ expr }) => expr),
  ...alerts.map(({ expr }) => expr),
  ...ofPanels.map((expr) => expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*")),
];
