/** Generates load: a fixed number of calls at once (closed loop), or calls at an even rate (open loop). */
import { setTimeout as sleep } from "node:timers/promises";

/** Makes the call with this number. Returns false or throws if it failed. */
export type Call = (number: number) => Promise<boolean>;

export interface LoadResult {
  /** Successful calls. */
  readonly count: number;
  readonly errors: number;
  readonly seconds: number;
  /**
   * Milliseconds of each successful call, ascending. In an open loop they count from when the call was due.
   */
  readonly times: readonly number[];
}

/** Keeps `connections` calls running for `ms`, or until `count` were started. */
export async function runClosedLoop(
  { connections, ms = Number.POSITIVE_INFINITY, count = Number.POSITIVE_INFINITY }: ClosedLoop,
  call: Call,
): Promise<LoadResult> {
  const startedAt = performance.now();
  const calls = record(call);
  const repeat = async () => {
    while (calls.started() < count && performance.now() - startedAt < ms) {
      await calls.run(performance.now());
    }
  };
  await Promise.all(Array.from({ length: connections }, repeat));
  return calls.result(startedAt);
}

interface ClosedLoop {
  readonly connections: number;
  readonly ms?: number;
  readonly count?: number;
}

/** Starts `perSecond` calls a second for `ms`, whether or not earlier ones have ended, and waits for all. */
export async function runOpenLoop(
  { perSecond, ms }: { perSecond: number; ms: number },
  call: Call,
): Promise<LoadResult> {
  const startedAt = performance.now();
  const calls = record(call);
  const running: Promise<void>[] = [];
  const count = Math.round((perSecond * ms) / 1_000);
  for (let number = 0; number < count; number += 1) {
    const dueAt = startedAt + (number * 1_000) / perSecond;
    if (dueAt > performance.now()) {
      await sleep(dueAt - performance.now());
    }
    const run = calls.run(dueAt);
    // The error is reported at the end.
    run.catch(() => undefined);
    running.push(run);
  }
  await Promise.all(running);
  return calls.result(startedAt);
}

function record(call: Call) {
  const times: number[] = [];
  let [started, errors] = [0, 0];
  return {
    started: () => started,
    async run(dueAt: number): Promise<void> {
      const number = started++;
      const isDone = await call(number).catch(() => false);
      if (isDone) {
        times.push(performance.now() - dueAt);
      } else {
        errors += 1;
      }
    },
    result: (startedAt: number): LoadResult => ({
      count: times.length,
      errors,
      times: times.sort((one, other) => one - other),
      seconds: (performance.now() - startedAt) / 1_000,
    }),
  };
}

/** Combines the results of several slices of the same load. */
export function combine(results: readonly LoadResult[]): LoadResult {
  const sum = (value: (result: LoadResult) => number) =>
    results.reduce((total, result) => total + value(result), 0);
  return {
    count: sum(({ count }) => count),
    errors: sum(({ errors }) => errors),
    seconds: sum(({ seconds }) => seconds),
    times: results.flatMap(({ times }) => times).sort((one, other) => one - other),
  };
}

export function rateOf({ count, seconds }: LoadResult): number {
  return count / seconds;
}

/** The time within which this share of the calls ended; infinity without calls. */
export function quantile({ times }: Pick<LoadResult, "times">, share: number): number {
  return times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.POSITIVE_INFINITY;
}
