/** Prints the figures of the messages benchmark: one line for each, one column for each version. */
import { combine, type LoadResult, quantile, rateOf } from "../load.ts";
import { median } from "../median.ts";
import type { Cost } from "../pool-counters.ts";

/** The median of the slices' rates, and the times of all slices. */
export function describeLoad(slices: readonly LoadResult[]): string {
  const all = combine(slices);
  const [p50, p99] = [quantile(all, 0.5).toFixed(1), quantile(all, 0.99).toFixed(1)];
  const rate = median(slices.map(rateOf)).toFixed(0);
  return `${rate}/s p50 ${p50} p99 ${p99} ms${all.errors > 0 ? ` ${all.errors} ERRORS` : ""}`;
}

export function describeCost({ statements, waits, cpuMs }: Cost): string {
  const sent =
    statements === undefined || waits === undefined
      ? "not counted"
      : `${statements.toFixed(1)} statements, ${waits.toFixed(1)} waits`;
  return `${sent}, ${cpuMs.toFixed(1)} ms CPU`;
}

export function print<Row>(
  what: string,
  rows: readonly Row[],
  describe: (row: Row) => string,
  target = "",
): void {
  const columns = rows.map((row) => describe(row).padEnd(44));
  console.log(`  ${what.padEnd(36)}${target.padEnd(14)}${columns.join("| ").trimEnd()}`);
}

/** The rate per second of `count` since a time of `performance.now()`. */
export function rateSince(startedAt: number, count: number): string {
  return `${((count / (performance.now() - startedAt)) * 1_000).toFixed(0)}/s`;
}
