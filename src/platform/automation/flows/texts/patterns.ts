/**
 * Matches regular expressions on other threads, between two transactions.
 *
 * A transaction that needs an unknown verdict returns its tests without having written anything, and is run
 * again when the verdicts are known. So no database connection is held while expressions are matched.
 */

import { FairQueue, NoFreePlaceError } from "../../../../database/sharing/index.ts";
import type { PatternVerdict } from "../../../../ports/patterns.ts";
import type { World } from "../../../foundation/kernel/index.ts";

/** An expression, and the text in which it is searched for. */
export interface PatternTest {
  readonly pattern: string;
  readonly text: string;
}

/** Whether the text has a match. */
export type MatchPattern = (test: PatternTest) => boolean;

/** The verdicts on the expressions of one event, such as a message. */
export interface Verdicts {
  isKnown(tests: readonly PatternTest[]): boolean;
  /** Matches the tests whose verdicts are not known yet. No transaction may be open. */
  learn(tests: readonly PatternTest[]): Promise<void>;
  readonly matches: MatchPattern;
  /** Whether the match was stopped because it took too long. It counts as no match. */
  isTimedOut(test: PatternTest): boolean;
}

/** The limit for all matches of one event: a flow can have hundreds of expressions. */
const maxTotalMs = 1_000;

const maxWaitMs = 10_000;

/** Round-robin by organization. The queue has as many places as the matcher has threads. */
const queue = new FairQueue({ size: 2, timeoutMs: maxWaitMs, place: "place for a regular expression" });

export function createVerdicts({ patterns }: Pick<World, "patterns">): Verdicts {
  const known = new Map<string, PatternVerdict>();
  let usedMs = 0;

  async function match({ pattern, text }: PatternTest): Promise<PatternVerdict> {
    if (usedMs > maxTotalMs) {
      return "timeout";
    }
    return (
      (await inTurn(async () => {
        const start = performance.now();
        const verdict = await patterns.match(pattern, text);
        usedMs += performance.now() - start;
        return verdict;
      })) ?? "timeout"
    );
  }

  return {
    isKnown: (tests) => tests.every((test) => known.has(keyOf(test))),
    async learn(tests) {
      for (const test of tests) {
        const key = keyOf(test);
        if (!known.has(key)) {
          known.set(key, await match(test));
        }
      }
    },
    matches: (test) => known.get(keyOf(test)) === "matched",
    isTimedOut: (test) => known.get(keyOf(test)) === "timeout",
  };
}

/** Returns undefined if no place became free in time, because the organization has many other matches. */
export async function inTurn<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  const release = await queue.acquire().catch((error: unknown) => {
    if (error instanceof NoFreePlaceError) {
      return undefined;
    }
    throw error;
  });
  try {
    return release && (await work());
  } finally {
    release?.();
  }
}

/** The result of a transaction, or the tests whose verdicts it needs first. */
export type VerdictAttempt<Result> =
  | { readonly result: Result }
  | { readonly unknown: readonly PatternTest[] };

/** Repeats `attempt`, which runs in a transaction, until it knows its verdicts. */
export async function learnVerdicts<Result>(
  verdicts: Verdicts,
  attempt: () => Promise<VerdictAttempt<Result>>,
): Promise<Result> {
  for (;;) {
    const attempted = await attempt();
    if ("result" in attempted) {
      return attempted.result;
    }
    await verdicts.learn(attempted.unknown);
  }
}

function keyOf({ pattern, text }: PatternTest): string {
  return JSON.stringify([pattern, text]);
}
