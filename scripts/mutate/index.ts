/**
 * Runs deliberate defects of the sources, each with the tests of its module, and prints the defects that no
 * test finds.
 */
import { resolve } from "node:path";
import { choose } from "./choose.ts";
import { readColumnKinds } from "./find/columns.ts";
import { findMutations } from "./find/index.ts";
import { readModules } from "./modules.ts";
import type { Mutation } from "./mutation.ts";
import { help, type Options, OptionsError, readOptions } from "./options.ts";
import { printReport, type Report, readReasons, survivorsOf } from "./report.ts";
import { readResults } from "./results.ts";
import { execute, type MutationResults } from "./run/index.ts";
import { readTests, testsFor } from "./tests.ts";

const root = resolve(import.meta.dirname, "../..");
const begin = Date.now();
const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => interruption.abort());
}

try {
  process.exitCode = await main(readOptions(process.argv.slice(2)));
} catch (error) {
  process.exitCode = report(error);
}

function report(error: unknown): number {
  if (interruption.signal.aborted) {
    console.error("Interrupted. Run the same command again to continue.");
    return 130;
  }
  console.error(error instanceof OptionsError ? error.message : error);
  return error instanceof OptionsError ? 2 : 1;
}

async function main(options: Options): Promise<number> {
  if (options.isHelp) {
    console.log(help);
    return 0;
  }
  const modules = readModules(root);
  const tests = readTests(root, modules.keys());
  const columns = readColumnKinds(root);
  const sources = [...modules.values()].flat();
  const all = sources.flatMap((source) => findMutations(source, columns));
  const reasons = readReasons(root, new Set(all.map(({ id }) => id)));
  const mutations = options.only.length > 0 ? findById(all, options.only) : choose(all, options);
  if (options.isList) {
    printList(mutations);
    return 0;
  }
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const tasks = mutations.map((mutation) => ({
    mutation,
    files: testsFor(mutation, tests),
    text: texts.get(mutation.file) ?? "",
  }));
  const path = resolve(root, options.results);
  const known = readResults(path);
  const executed = await execute({
    root,
    results: path,
    signal: interruption.signal,
    tasks: tasks.filter(({ mutation }) => options.only.length > 0 || !known.has(mutation.id)),
    deadline: begin + options.minutes * 60_000,
  });
  const results = new Map([...known, ...executed.results.map((result) => [result.id, result] as const)]);
  return conclude({ mutations, results, reasons, texts }, executed);
}

/** @throws UsageError */
function findById(all: readonly Mutation[], ids: readonly string[]): Mutation[] {
  return ids.map((id) => {
    const found = all.find((mutation) => mutation.id === id);
    if (!found) {
      throw new OptionsError(`No mutation of the sources has the id ${id}. See --list.`);
    }
    return found;
  });
}

function printList(mutations: readonly Mutation[]): void {
  for (const { id, file, line, description } of mutations) {
    console.log(`${id}\n  ${file}:${line} ${description}`);
  }
}

/** Prints the results and the remaining work. Returns the exit code. */
function conclude(printed: Report, { failing, isTimeUp }: MutationResults): number {
  printReport(printed);
  const unexplained = survivorsOf(printed).filter(({ id }) => !printed.reasons.has(id));
  console.log(`\n${unexplained.length} survived without a reason.`);
  if (failing.length > 0) {
    console.log(`Modules whose tests fail without a mutation were not run: ${failing.join(", ")}.`);
  }
  if (isTimeUp) {
    console.log("Time is up. Run the same command again to continue.");
  }
  if (unexplained.length > 0 || failing.length > 0) {
    return 1;
  }
  return isTimeUp ? 3 : 0;
}
