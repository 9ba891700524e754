/** Prints the results: a table by operator, one by module, and every mutation that survived. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { diffOf, type Mutation } from "./mutation.ts";
import type { MutationOutcome, Result } from "./results.ts";

const outcomes: readonly MutationOutcome[] = ["killed", "survived", "timed out"];

export type Reasons = ReadonlyMap<string, string>;

/**
 * The reasons why mutations may survive, keyed by id.
 * @throws Error if no source has one of the mutations any more.
 */
export function readReasons(root: string, ids: ReadonlySet<string>): Reasons {
  const file = "scripts/mutate/reasons.json";
  const parsed = z
    .record(z.string(), z.string().min(1))
    .safeParse(JSON.parse(readFileSync(join(root, file), "utf8")));
  if (!parsed.success) {
    throw new Error(`${file} must have a text for each id.`);
  }
  const stale = Object.keys(parsed.data).filter((id) => !ids.has(id));
  if (stale.length > 0) {
    throw new Error(`${file} names mutations that no source has any more; remove them: ${stale.join(", ")}.`);
  }
  return new Map(Object.entries(parsed.data));
}

export interface Report {
  readonly mutations: readonly Mutation[];
  readonly results: ReadonlyMap<string, Result>;
  readonly reasons: Reasons;
  /** Keyed by file. */
  readonly texts: ReadonlyMap<string, string>;
}

export function printReport(report: Report): void {
  printTable(report, "operator");
  printTable(report, "module");
  for (const mutation of survivorsOf(report)) {
    const { id, file, line } = mutation;
    console.log(`\nSurvived: ${file}:${line}\n${diffOf(report.texts.get(file) ?? "", mutation)}`);
    console.log(`  ${id}\n  Reason: ${report.reasons.get(id) ?? "none"}`);
  }
}

export function survivorsOf({ mutations, results }: Report): Mutation[] {
  return mutations.filter(({ id }) => results.get(id)?.outcome === "survived");
}

function printTable({ mutations, results }: Report, key: "operator" | "module"): void {
  const names = [...new Set(mutations.map((mutation) => mutation[key]))].sort();
  const width = Math.max(...names.map(({ length }) => length), key.length);
  const row = (name: string, cells: readonly (string | number)[]) =>
    console.log(name.padEnd(width), ...cells.map((cell) => String(cell).padStart(9)));
  console.log("");
  row(key, [...outcomes, "not run"]);
  for (const name of names) {
    row(
      name,
      countOutcomes(
        mutations.filter((mutation) => mutation[key] === name),
        results,
      ),
    );
  }
  row("all", countOutcomes(mutations, results));
}

function countOutcomes(mutations: readonly Mutation[], results: Report["results"]): number[] {
  const wanted = [...outcomes, undefined];
  return wanted.map((outcome) => mutations.filter(({ id }) => results.get(id)?.outcome === outcome).length);
}
