/** The file of rules for Prometheus. */
import { alerts } from "./alerts.ts";
import { recordingRules } from "./recording-rules.ts";
import { toYaml } from "./yaml.ts";

/** Stands for the host of the service in all files of deploy/; the reader replaces it. */
const host = "tidings.example.com";

export function rulesFile(): string {
  return toYaml({
    groups: [
      {
        name: "tidings-recorded",
        rules: recordingRules.map(({ record, expr }) => ({ record, expr })),
      },
      {
        name: "tidings-alerts",
        rules: alerts.map(({ name, severity, expr, for: duration, summary }) => ({
          alert: name,
          expr,
          for: duration,
          labels: { severity },
          annotations: { summary, runbook_url: `https://${host}/docs/runbook#${name.toLowerCase()}` },
        })),
      },
    ],
  });
}
