/** Runs the mutations that have no result yet, in a copy of the working tree. */
import { dirname, join } from "node:path";
import { appendResult, type Result } from "../results.ts";
import { runBaseline } from "./baseline.ts";
import { copyTree } from "./copy.ts";
import { runAll, type Task } from "./tasks.ts";
import { openTestServer } from "./test-database.ts";

const defaultServer = "postgres://postgres@127.0.0.1:5432/postgres";

export interface Execution {
  readonly root: string;
  readonly tasks: readonly Task[];
  /** The file that each result is appended to. */
  readonly results: string;
  readonly deadline: number;
  readonly signal: AbortSignal;
}

export interface MutationResults {
  readonly results: readonly Result[];
  /** The files that fail without a mutation. No mutation of their modules was run. */
  readonly failing: readonly string[];
  /** Whether some mutations were not started. */
  readonly isTimeUp: boolean;
}

/** The copy and its databases are removed however the run ends. */
export async function execute({ root, tasks, signal, ...execution }: Execution): Promise<MutationResults> {
  if (tasks.length === 0) {
    return { results: [], failing: [], isTimeUp: false };
  }
  using copy = copyTree(root);
  await using server = await openTestServer(process.env.TEST_DATABASE_URL ?? defaultServer);
  const place = { copy, server, signal };
  const files = [...new Set(tasks.flatMap((task) => task.files))];
  const cache = join(dirname(execution.results), "baseline.json");
  const baseline = await runBaseline(place, files, cache);
  const failing = files.filter((file) => !baseline.has(file));
  const usable = tasks.filter((task) => !task.files.some((file) => failing.includes(file)));
  const results: Result[] = [];
  await runAll(place, {
    tasks: usable,
    baseline,
    deadline: execution.deadline,
    onResult(task, result) {
      record(execution.results, task, result);
      results.push(result);
      printResult(task, result, `${results.length}/${usable.length}`);
    },
  });
  return { results, failing, isTimeUp: results.length < usable.length };
}

/** Adds the facts that a person wants to see in a result; only `resultSchema` is read again. */
function record(path: string, { mutation }: Task, result: Result): void {
  const { operator, module, file, line, description } = mutation;
  appendResult(path, { ...result, operator, module, file, line, description });
}

function printResult({ mutation }: Task, { outcome, by, seconds }: Result, number: string): void {
  const { operator, file, line } = mutation;
  console.log(`${number} ${outcome} in ${seconds} s: ${operator} at ${file}:${line}${by ? ` (${by})` : ""}`);
}
