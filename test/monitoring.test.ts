/** deploy/monitoring/: each expression is PromQL over metrics that exist, each alert is in the runbook. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import dashboard from "../deploy/monitoring/tidings-dashboard.json" with { type: "json" };
import { alerts } from "../scripts/docs/monitoring/alerts.ts";
import { expressions } from "../scripts/docs/monitoring/all-expressions.ts";
import { findUnknownSeries, selectorsIn } from "../scripts/docs/monitoring/expressions.ts";
import { panelRows } from "../scripts/docs/monitoring/panels.ts";
import { recordingRules } from "../scripts/docs/monitoring/recording-rules.ts";
import { metricCatalogue } from "../src/adapters/telemetry/metric-catalogue.ts";
import { hasProgram, runProgram } from "./support/installed-program.ts";

const rules = "deploy/monitoring/tidings-rules.yml";

describe("an expression", () => {
  test("uses metrics, labels and values that exist", () => {
    expect(expressions.length).toBeGreaterThan(50);
    expect(expressions.flatMap((expr) => findUnknownSeries(expr, recordingRules))).toEqual([]);
  });

  test.each([
    ["sum(rate(tidings_requests_total[5m]))", ["there is no metric tidings_requests_total"]],
    ["tidings_jobs_dead > on (name) absent_metric", ["there is no metric absent_metric"]],
    ["tidings:requests:rate5m > 1", ["there is no metric tidings:requests:rate5m"]],
    ['tidings_messages_total{status="sent"}', ["tidings_messages_total has no label status"]],
    ['up unless tidings_messages_total{state=~"sent|gone"}', ['tidings_messages_total has no state="gone"']],
    ["sum by (chanel) (tidings_channel_sends_total)", ["no metric has the label chanel"]],
    [
      'tidings:channel_failures:ratio15m{chanel="whatsapp"}',
      ["tidings:channel_failures:ratio15m has no label chanel"],
    ],
    ["tidings_job_wait_seconds", ["there is no metric tidings_job_wait_seconds"]],
  ])("is rejected otherwise: %s", (expr, problems) => {
    expect(findUnknownSeries(expr, recordingRules)).toEqual(problems);
  });

  test("exists for each metric of the catalogue", () => {
    const used = new Set(
      expressions.flatMap(selectorsIn).map(({ metric }) => metric.replace(/_bucket$/, "")),
    );
    const unused = Object.keys(metricCatalogue).filter((name) => !used.has(`tidings_${name}`));
    expect(unused).toEqual([]);
  });
});

describe.skipIf(!hasProgram("promtool"))("promtool (skipped if it is not installed)", () => {
  test("accepts the file of rules", async () => {
    const { code, output } = await runProgram("promtool", ["check", "rules", rules]);
    expect([code, output]).toEqual([
      0,
      expect.stringContaining(`${alerts.length + recordingRules.length} rules`),
    ]);
  });

  test("parses every expression of the dashboard", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tidings-monitoring-"));
    try {
      const file = join(folder, "expressions.yml");
      const check = async (list: readonly string[]) => {
        const recordings = list.map((expr, index) => ({ record: `expression:${index}`, expr }));
        await writeFile(file, JSON.stringify({ groups: [{ name: "dashboard", rules: recordings }] }));
        return (await runProgram("promtool", ["check", "rules", file])).code;
      };
      expect(await check(expressions)).toBe(0);
      expect(await check([...expressions, "sum(tidings_jobs_dead"])).toBe(1);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("the dashboard", () => {
  test("has each panel once, with different ids, in places that do not overlap", () => {
    const { panels } = dashboard;
    expect(panels.map(({ title }) => title)).toEqual(
      panelRows.flatMap((row) => [row.title, ...row.panels.map(({ title }) => title)]),
    );
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });
});

describe("the runbook", async () => {
  const runbook = await readFile("docs/runbook.md", "utf8");
  const [, ...parts] = runbook.split(/^## /m);
  const sections = parts
    .map((part) => ({ name: part.split("\n")[0] ?? "", text: part }))
    .filter(({ name }) => name.startsWith("Tidings"));

  test("has a section for each alert, in the same order, and no other", () => {
    expect(sections.map(({ name }) => name)).toEqual(alerts.map(({ name }) => name));
  });

  test("says in each what it means, what to look at and what to do", () => {
    const marks = ["**Means:**", "**Look at:**", "**Do:**"];
    const incomplete = sections.filter(({ text }) => !marks.every((mark) => text.includes(`\n${mark} `)));
    expect(incomplete.map(({ name }) => name)).toEqual([]);
  });
});
