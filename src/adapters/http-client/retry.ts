/**
 * Repeats requests: up to three attempts, with a wait after the first attempt, and a wait four times as long
 * after the second.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { HttpHeaders } from "./exchange.ts";

const maxAttempts = 3;

/** How long to wait after an attempt, counted from 1. Undefined after the last attempt. */
export function waitAfter(attempt: number, firstWaitMs: number): number | undefined {
  return attempt < maxAttempts ? firstWaitMs * 4 ** (attempt - 1) : undefined;
}

/** Repeats a request after an error, unless the signal is aborted. @throws the last error. */
export async function repeatAfterErrors<Result>(
  firstWaitMs: number,
  run: (attempt: number) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run(attempt);
    } catch (error) {
      const waitMs = waitAfter(attempt, firstWaitMs);
      if (waitMs === undefined || signal?.aborted) {
        throw error;
      }
      await sleep(waitMs, undefined, { signal });
    }
  }
}

/** Reads a number of seconds or a date, and returns milliseconds. */
export function readRetryAfter(headers: HttpHeaders): number | undefined {
  const value = [headers["retry-after"]].flat()[0]?.trim() ?? "";
  if (/^\d{1,6}(?:\.\d+)?$/.test(value)) {
    return Math.ceil(Number(value) * 1000);
  }
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
