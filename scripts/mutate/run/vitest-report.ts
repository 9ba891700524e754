/** Reads the results of a run from vitest's report and its output. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { z } from "zod";

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      message: z.string(),
      assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })),
    }),
  ),
});

export type VitestReport = z.infer<typeof reportSchema>["testResults"];

/** Empty if vitest wrote no report. The names are relative to the tree. */
export function readReport(path: string, tree: string): VitestReport {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  return reportSchema
    .parse(JSON.parse(text))
    .testResults.map((one) => ({ ...one, name: relative(tree, one.name) }));
}

/** The files in which every test passed, with their milliseconds. */
export function passedFiles(report: VitestReport): Map<string, number> {
  return new Map(
    report
      .filter(({ status }) => status === "passed")
      .map(({ name, startTime, endTime }) => [name, Math.round(endTime - startTime)]),
  );
}

/**
 * The first failure of a failed run, in one line. Undefined if neither the report nor the output names one.
 */
export function describeFailure(report: VitestReport, output: string): string | undefined {
  for (const { name, assertionResults } of report) {
    const test = assertionResults.find(({ status }) => status === "failed");
    if (test) {
      return `${name}: ${test.fullName}`;
    }
  }
  if (/scripts\/build\.ts/.test(output)) {
    return "does not build";
  }
  const file = report.find(({ status }) => status === "failed");
  const lines = (file?.message || output).split("\n").map((line) => line.trim());
  // Headings have lines of "⎯" around them.
  const named = lines.find((line) => /Error\b/.test(line) && !line.includes("⎯"));
  const reason = named ?? lines.find((line) => /error|fail/i.test(line));
  return reason && `${file?.name ?? "vitest"}: ${reason.slice(0, 160)}`;
}
