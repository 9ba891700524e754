/**
 * Runs the tests of a former version on the present schema: `npm run former-version -- COMMIT [FILE…]`.
 * During a deployment, processes of that version go on after the newest one has migrated the database.
 *
 * The commit is unpacked into a temporary folder and installed there, with the present migrations in place of
 * its own. Its row check is left out: it demands exactly the columns that it declares, and a newer schema may
 * have more. FILE is one of its test files, by default all that `leftOut` does not name. ENGINE=embedded runs
 * them on the embedded database, and TEST_REPORT names a file for the results as JSON.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { asserting, leftOut } from "./schema-assertions.ts";

interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

interface TestRun extends TestReport {
  /** Not 0 after an error outside any test too, which the report does not have. */
  readonly exitCode: number;
}

interface TestFailure {
  readonly file: string;
  readonly test: string;
  readonly message: string;
}

const migrationFolder = "src/database/migrations";
const engine = process.env.ENGINE ?? "postgres";
const [, , commit, ...named] = process.argv;

if (commit === undefined) {
  console.error("Name the commit of the former version: npm run former-version -- COMMIT [FILE…]");
  process.exitCode = 2;
} else {
  process.exitCode = await main(commit);
}

async function main(version: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "tidings-former-version-"));
  try {
    unpack(version, folder);
    console.log(`Installing ${version} with the present migrations in ${folder}.`);
    execFileSync("npm", ["ci", "--no-audit", "--no-fund"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
    return report(await runTests(folder, named.length > 0 ? named : chooseFiles(folder)), folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function unpack(version: string, folder: string): void {
  const archive = execFileSync("git", ["archive", version], { maxBuffer: 2 ** 30 });
  execFileSync("tar", ["--extract", "--directory", folder], { input: archive });
  rmSync(join(folder, migrationFolder), { recursive: true });
  cpSync(migrationFolder, join(folder, migrationFolder), { recursive: true });
  writeFileSync(join(folder, "test/support/check-rows.ts"), "export {};\n");
}

function chooseFiles(folder: string): readonly string[] {
  const files = readdirSync(join(folder, "test"), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".test.ts") && !leftOut.some(({ files: pattern }) => pattern.test(file)))
    .map((file) => `test/${file}`)
    .sort();
}

async function runTests(folder: string, files: readonly string[]): Promise<TestRun> {
  console.log(`Running ${files.length} test files on ${engine}.`);
  const output = process.env.TEST_REPORT ?? join(folder, "report.json");
  rmSync(output, { force: true });
  const tests = spawn("npx", ["vitest", "run", "--project", engine, "--silent=true", ...files], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, TEST_REPORT: output },
  });
  const [exitCode] = await once(tests, "exit");
  // As the JSON reporter of vitest writes it.
  const report = JSON.parse(readFileSync(output, "utf8")) as TestReport;
  return { ...report, exitCode: exitCode ?? 1 };
}

/** Prints each failure, and returns the exit code. */
function report({ testResults, exitCode }: TestRun, folder: string): number {
  const failures = testResults.flatMap((result) => failuresOf(result, relative(folder, result.name)));
  const passed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "passed").length;
  const explained = failures.filter((failure) => reasonOf(failure) !== undefined);
  for (const failure of failures) {
    const reason = reasonOf(failure);
    console.log(`\n${reason ? "Expected to fail" : "FAILED"} ${failure.file} ${failure.test}`);
    console.log(reason ?? failure.message.slice(0, 2_000));
  }
  const unexplained = failures.length - explained.length;
  console.log(`\n${passed} passed, ${unexplained} failed, ${explained.length} failed as expected`);
  const isBroken = failures.length === 0 && exitCode !== 0;
  if (isBroken) {
    console.log(`The run ended with exit code ${exitCode}.`);
  }
  return unexplained > 0 || isBroken || passed === 0 ? 1 : 0;
}

function failuresOf(result: TestReport["testResults"][number], file: string): readonly TestFailure[] {
  const failed = result.assertionResults.filter(({ status }) => status === "failed");
  if (result.status === "failed" && failed.length === 0) {
    return [{ file, test: "(could not be loaded)", message: result.message }];
  }
  return failed.map(({ fullName, failureMessages }) => ({
    file,
    test: fullName,
    message: failureMessages.join("\n"),
  }));
}

function reasonOf({ file, test }: TestFailure): string | undefined {
  return asserting.find((one) => `test/${one.file}` === file && one.test.test(test))?.reason;
}
