/** When a delivery that failed is tried again: ten tries over three days, by the Standard Webhooks schedule. */
import { readRetryAfterMs } from "../../../tools/contract/index.ts";
import type { WebAnswer } from "../../ports/web.ts";

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

/** After each failed try but the last. */
export const waitsMs: readonly number[] = [
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

/** So that receivers that failed together are not all tried at the same moment. */
const jitter = 0.2;
/** What an overloaded server is given at least. */
const overloadedMs = minute;

export interface Failing {
  /** How many tries of the schedule have failed, this one included. */
  readonly step: number;
  readonly answer: WebAnswer;
  readonly now: Date;
  /** From 0 to 1, exclusive. */
  readonly random?: () => number;
}

/** Undefined when that was the last try. What the receiver asks for counts between once and twice the step. */
export function nextTry({ step, answer, now, random = Math.random }: Failing): Date | undefined {
  const base = waitsMs[step - 1];
  if (base === undefined) {
    return undefined;
  }
  const header = answer.outcome === "answered" ? answer.headers["retry-after"] : undefined;
  const asked = readRetryAfterMs(header ?? "", now);
  const usual = base * (1 - jitter + 2 * jitter * random());
  const waitMs = asked === undefined ? usual : Math.min(Math.max(asked, base), 2 * base);
  return new Date(now.getTime() + Math.round(isOverload(answer) ? Math.max(waitMs, overloadedMs) : waitMs));
}

function isOverload(answer: WebAnswer): boolean {
  return answer.outcome === "answered"
    ? answer.status === 429
    : answer.outcome === "failed" && answer.reason === "timeout";
}
