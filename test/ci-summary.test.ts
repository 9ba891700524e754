/** The summary of CI: what it counts, and what it exits with. */
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFolder } from "./support/backups.ts";

/** A report in which every test passed. */
const passing = {
  numPassedTests: 2,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [],
};

async function summarize(exitCodes: Readonly<Record<string, number>>) {
  await using folder = await createFolder();
  for (const [engine, code] of Object.entries(exitCodes)) {
    await writeFile(join(folder.path, `${engine}.json`), JSON.stringify(passing));
    await writeFile(join(folder.path, `${engine}.exit-code`), `${code}\n`);
  }
  const { status, stdout } = spawnSync(process.execPath, [".ci/summary.js", folder.path]);
  return { status, lines: String(stdout).trim().split("\n\n") };
}

test("passing tests on both engines exit with 0", async () => {
  const summary = await summarize({ embedded: 0, postgres: 0 });
  expect(summary).toEqual({ status: 0, lines: ["4 passed, 0 failed"] });
});

test("a run that an error outside the tests ended is a failure, though its report has none", async () => {
  const summary = await summarize({ embedded: 0, postgres: 1 });
  const line = "FAILED postgres.json The run ended with exit code 1.";
  expect(summary).toEqual({ status: 1, lines: [line, "4 passed, 1 failed"] });
});

test("a run without a report is a failure", async () => {
  expect(await summarize({ postgres: 0 })).toEqual({
    status: 1,
    lines: ["FAILED embedded: its run wrote no report.", "2 passed, 1 failed"],
  });
});
