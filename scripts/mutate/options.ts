/** The options of the command. */
import { parseArgs } from "node:util";

export interface Options {
  readonly seed: number;
  readonly count: number;
  readonly minutes: number;
  readonly results: string;
  /** The mutations to run again. If empty, the mutations of the seed are run. */
  readonly only: readonly string[];
  readonly isList: boolean;
  readonly isHelp: boolean;
}

export const help = `Runs deliberate defects (mutations) of the sources, each with the tests of its module alone.

npm run mutate -- [OPTIONS]

  --count N       How many mutations (default 80)
  --seed N        Another choice of mutations (default 1)
  --minutes N     Start no further mutation after this time (default 45); run again to continue
  --results FILE  One JSON line for each result; what it has is not run again
                  (default node_modules/.cache/mutate/results.jsonl)
  --only ID       Run this mutation, even if the file has its result; may be repeated
  --list          Print the mutations and run nothing
  --help          Print this

A mutation that no test fails has survived. Write a test that fails, or name the reason in
scripts/mutate/reasons.json: { "ID": "why no test can or should fail" }.

Exit code: 0; 1 if one survived without a reason, or the tests of a module fail without a mutation;
2 for a wrong option; 3 if time ran out first; 130 after Ctrl+C.`;

export class OptionsError extends Error {}

/** @throws UsageError */
export function readOptions(args: readonly string[]): Options {
  const values = parse(args);
  return {
    seed: readNumber("seed", values.seed, 0),
    count: readNumber("count", values.count, 1),
    minutes: readNumber("minutes", values.minutes, 1),
    results: values.results,
    only: values.only,
    isList: values.list,
    isHelp: values.help,
  };
}

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seed: { type: "string", default: "1" },
        count: { type: "string", default: "80" },
        minutes: { type: "string", default: "45" },
        results: { type: "string", default: "node_modules/.cache/mutate/results.jsonl" },
        only: { type: "string", multiple: true, default: [] },
        list: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    throw new OptionsError(`${error instanceof Error ? error.message : String(error)} See --help.`);
  }
}

function readNumber(name: string, text: string, least: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < least) {
    throw new OptionsError(`--${name} must be a whole number of at least ${least}, not "${text}".`);
  }
  return number;
}
