/**
 * Counts the tests in the reports of CI, and names those that failed: `node .ci/summary.js FOLDER [STEP…]`. The
 * folder has the report and the exit code of each engine's run, and STEP is another step that failed.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [, , folder = "", ...broken] = process.argv;

let passed = 0;
let failed = broken.length;
let skipped = 0;
for (const step of broken) {
  console.log(`\nFAILED ${step}`);
}
for (const engine of ["embedded", "postgres"]) {
  const file = `${engine}.json`;
  if (!existsSync(join(folder, file))) {
    console.log(`\nFAILED ${engine}: its run wrote no report.`);
    failed += 1;
    continue;
  }
  const report = JSON.parse(readFileSync(join(folder, file), "utf8"));
  const exitCode = Number(readFileSync(join(folder, `${engine}.exit-code`), "utf8"));
  // A file that could not be loaded has no tests that could fail.
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((one) => one.status === "failed"),
  );
  const failures = report.numFailedTests + unloaded.length;
  for (const { name, message } of unloaded) {
    console.log(`\nFAILED ${file} ${name}\n${message}`);
  }
  for (const { assertionResults, name } of report.testResults) {
    for (const { fullName, failureMessages } of assertionResults.filter(
      ({ status }) => status === "failed",
    )) {
      console.log(`\nFAILED ${file} ${name} ${fullName}\n${failureMessages.join("\n").slice(0, 2000)}`);
    }
  }
  passed += report.numPassedTests;
  // An error outside any test, which the report does not have, ends the run with another exit code than 0.
  const isBroken = failures === 0 && exitCode !== 0;
  if (isBroken) {
    console.log(`\nFAILED ${file} The run ended with exit code ${exitCode}.`);
  }
  failed += isBroken ? 1 : failures;
  skipped += report.numPendingTests + report.numTodoTests;
}
console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exit(failed > 0 ? 1 : 0);
