/** The unmutated tests: a mutation is run only if all tests of its module pass without it. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { runTests, type Workplace } from "./vitest.ts";

const baselineSchema = z.object({
  /** The hash of the sources and the tests. */
  hash: z.string(),
  passed: z.record(z.string(), z.number()),
});

/**
 * The milliseconds of each of these files that passes. Passed files are kept beside the results, for the next
 * start with the same sources.
 */
export async function runBaseline(
  place: Workplace,
  files: readonly string[],
  path: string,
): Promise<ReadonlyMap<string, number>> {
  const { hash } = place.copy;
  const known = readBaseline(path, hash);
  const missing = files.filter((file) => !known.has(file));
  if (missing.length === 0) {
    return known;
  }
  console.log(`Running ${missing.length} test files without a mutation.`);
  const { passed, failure } = await runTests(place, { files: missing, isBailing: false, limitMs: 3_600_000 });
  if (failure !== null) {
    console.log(`A test fails without a mutation: ${failure}`);
  }
  const all = new Map([...known, ...passed]);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ hash, passed: Object.fromEntries(all) })}\n`);
  return all;
}

function readBaseline(path: string, hash: string): Map<string, number> {
  try {
    const known = baselineSchema.parse(JSON.parse(readFileSync(path, "utf8")));
    return new Map(known.hash === hash ? Object.entries(known.passed) : []);
  } catch {
    // There is no baseline yet, or another version of the script wrote it.
    return new Map();
  }
}
