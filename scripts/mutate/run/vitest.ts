/** Runs test files with vitest in the copy, and ends every process of the run. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Copy } from "./copy.ts";
import { prepareProgram } from "./program.ts";
import type { TestServer } from "./test-database.ts";
import { describeFailure, passedFiles, readReport } from "./vitest-report.ts";

export interface Workplace {
  readonly copy: Copy;
  readonly server: TestServer;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
}

export interface TestRun {
  readonly files: readonly string[];
  /** Whether the first failure ends the run. */
  readonly isBailing: boolean;
  readonly limitMs: number;
}

export interface TestReport {
  readonly outcome: "passed" | "failed" | "timed out";
  /** The first failure. */
  readonly failure: string | null;
  /** The files in which every test passed, with their milliseconds. */
  readonly passed: ReadonlyMap<string, number>;
}

/** Files about the embedded engine run on it. All other files run on the server, if there is one. */
export async function runTests(place: Workplace, run: TestRun): Promise<TestReport> {
  prepareProgram(place.copy.tree, run.files);
  const { project } = place.server;
  const isTagged = (file: string) =>
    readFileSync(join(place.copy.tree, file), "utf8").includes("@module-tag embedded");
  const isEmbedded = (file: string) => project === "embedded" || isTagged(file);
  const parts = [
    [project, run.files.filter((file) => !isEmbedded(file))],
    ["embedded", run.files.filter(isEmbedded)],
  ] as const;
  let report: TestReport = { outcome: "passed", failure: null, passed: new Map() };
  for (const [name, files] of parts) {
    if (files.length > 0 && !(run.isBailing && report.outcome !== "passed")) {
      const next = await runProject(place, name, { ...run, files });
      const worse = report.outcome === "passed" ? next : report;
      report = { ...worse, passed: new Map([...report.passed, ...next.passed]) };
    }
  }
  return report;
}

async function runProject(place: Workplace, project: string, run: TestRun): Promise<TestReport> {
  const { copy, server, signal } = place;
  const reportFile = join(copy.temporary, "report.json");
  rmSync(reportFile, { force: true });
  const args = ["run", "--project", project, ...(run.isBailing ? ["--bail", "1"] : [])];
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${reportFile}`];
  const child = spawn(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", ...args, ...reporters, ...run.files],
    {
      cwd: copy.tree,
      env: { ...process.env, ...server.env, TMPDIR: copy.temporary, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
      // A separate process group, which can be ended as a whole.
      detached: true,
    },
  );
  const output = collect(child);
  const code = await waitFor(child, run.limitMs, signal);
  signal.throwIfAborted();
  await server.clean();
  if (code === null) {
    return { outcome: "timed out", failure: null, passed: new Map() };
  }
  const report = readReport(reportFile, copy.tree);
  const failure = code === 0 ? null : describeFailure(report, output());
  if (failure === undefined) {
    throw new Error(`vitest ended without a result. Its output:\n${output().slice(-2_000)}`);
  }
  return { outcome: code === 0 ? "passed" : "failed", failure, passed: passedFiles(report) };
}

/** @returns a function that returns what the process has written. */
function collect({ stdout, stderr }: ChildProcess): () => string {
  let text = "";
  for (const stream of [stdout, stderr]) {
    stream?.on("data", (chunk) => {
      text += String(chunk);
    });
  }
  return () => text;
}

/** Returns the exit code, or null if the limit ended the run. */
async function waitFor(child: ChildProcess, limitMs: number, signal: AbortSignal): Promise<number | null> {
  let isTimeUp = false;
  const end = () => endGroup(child);
  // Not AbortSignal.timeout(): Node 20 may collect the timer of a signal that is only a part of
  // AbortSignal.any().
  const timer = setTimeout(() => {
    isTimeUp = true;
    end();
  }, limitMs);
  signal.addEventListener("abort", end);
  if (signal.aborted) {
    end();
  }
  try {
    const [code, endedBy] = await once(child, "exit");
    if (code === null && !isTimeUp && !signal.aborted) {
      // Ended by another program, or by the system because memory was short: this proves nothing about the
      // mutation.
      throw new Error(`vitest was ended by ${endedBy}.`);
    }
    return isTimeUp ? null : Number(code);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    // Ends processes that a test started and left running.
    end();
  }
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) {
      process.kill(-pid, "SIGKILL");
    }
  } catch {
    // All processes of the group have already ended.
  }
}
