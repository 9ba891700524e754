/** When a failed delivery is retried: ten attempts over three days, the schedule of Standard Webhooks. */
import { readRetryAfterMs } from "../../../../tools/contract/index.ts";
import type { WebResponse } from "../../../ports/web.ts";

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

/** The delay after each failed attempt except the last. */
export const retryDelaysMs: readonly number[] = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/**
 * Relative to the delay, in both directions, so that deliveries that failed together are not all retried at
 * the same moment.
 */
const jitter = 0.2;
/** The shortest delay after a 429 or a timeout. */
const minOverloadDelayMs = minute;

export interface FailedAttempt {
  /** How many attempts of the schedule have failed, including this one. */
  readonly step: number;
  readonly answer: WebResponse;
  readonly now: Date;
  /** Returns a number from 0 to 1, exclusive. */
  readonly random?: () => number;
}

/**
 * Returns undefined after the last attempt. `Retry-After` counts between one and two times the scheduled
 * delay.
 */
export function nextTryAt({ step, answer, now, random = Math.random }: FailedAttempt): Date | undefined {
  const base = retryDelaysMs[step - 1];
  if (base === undefined) {
    return undefined;
  }
  const header = answer.outcome === "answered" ? answer.headers["retry-after"] : undefined;
  const requestedMs = readRetryAfterMs(header ?? "", now);
  const scheduledMs = base * (1 - jitter + 2 * jitter * random());
  const delayMs = requestedMs === undefined ? scheduledMs : Math.min(Math.max(requestedMs, base), 2 * base);
  const minDelayMs = isOverload(answer) ? minOverloadDelayMs : 0;
  return new Date(now.getTime() + Math.round(Math.max(delayMs, minDelayMs)));
}

function isOverload(answer: WebResponse): boolean {
  return answer.outcome === "answered"
    ? answer.status === 429
    : answer.outcome === "failed" && answer.reason === "timeout";
}
