/** Runs mutations one after another in the copy, each with the tests of its module. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyEdit, type Mutation } from "../mutation.ts";
import type { Result } from "../results.ts";
import { runTests, type TestReport, type Workplace } from "./vitest.ts";

export interface Task {
  readonly mutation: Mutation;
  /** The unmutated source. */
  readonly text: string;
  readonly files: readonly string[];
}

export interface MutationRun {
  readonly tasks: readonly Task[];
  /** The milliseconds of each file that passes without a mutation. */
  readonly baseline: ReadonlyMap<string, number>;
  /** The time after which no mutation is started. */
  readonly deadline: number;
  onResult(task: Task, result: Result): void;
}

export async function runAll(place: Workplace, run: MutationRun): Promise<void> {
  for (const task of run.tasks) {
    if (Date.now() > run.deadline) {
      return;
    }
    run.onResult(task, await runTask(place, task, run.baseline));
  }
}

async function runTask(place: Workplace, task: Task, baseline: MutationRun["baseline"]): Promise<Result> {
  const { mutation, text, files } = task;
  const path = join(place.copy.tree, mutation.file);
  const begin = Date.now();
  writeFileSync(path, applyEdit(text, mutation));
  try {
    const report = await runTests(place, { files, isBailing: true, limitMs: limitOf(files, baseline) });
    const seconds = Math.round((Date.now() - begin) / 100) / 10;
    return { id: mutation.id, outcome: outcomeOf(report), by: report.failure, seconds };
  } finally {
    writeFileSync(path, text);
  }
}

function outcomeOf({ outcome }: TestReport): Result["outcome"] {
  if (outcome === "timed out") {
    return outcome;
  }
  return outcome === "passed" ? "survived" : "killed";
}

/** Twice the time of the files one after another, plus the time of a start with a build on a busy machine. */
function limitOf(files: readonly string[], baseline: MutationRun["baseline"]): number {
  const total = files.reduce((sum, file) => sum + (baseline.get(file) ?? 0), 0);
  return 90_000 + 2 * total;
}
