/** The delay before a webhook's next attempt: the step's delay, Retry-After, jitter, and the last attempt. */
import { expect, test } from "vitest";
import { nextTryAt } from "../src/platform/automation/webhooks/schedule.ts";
import type { WebResponse } from "../src/ports/web.ts";

const now = new Date("2026-03-01T10:00:00.000Z");
const answered = (status: number, headers = {}): WebResponse => ({
  outcome: "answered",
  status,
  headers,
  body: new Uint8Array(),
  isCut: false,
  ms: 1,
});
const seconds = (step: number, answer: WebResponse, random = 0.5) =>
  ((nextTryAt({ step, answer, now, random: () => random })?.getTime() ?? Number.NaN) - now.getTime()) / 1_000;

test.each([
  ["is the step's delay", 1, answered(500), 5],
  ["is Retry-After in seconds", 2, answered(503, { "retry-after": "400" }), 400],
  ["is Retry-After as a date", 2, answered(503, { "retry-after": "Sun, 01 Mar 2026 10:07:00 GMT" }), 420],
  ["is at most twice the step's delay", 2, answered(503, { "retry-after": "86400" }), 600],
  ["is at least the step's delay", 2, answered(503, { "retry-after": "1" }), 300],
  ["is at least a minute after 429", 1, answered(429), 60],
  [
    "is at least a minute after a timeout",
    1,
    { outcome: "failed", reason: "timeout", detail: "", ms: 1 } as const,
    60,
  ],
])("the delay %s", (_, step, answer, expected) => {
  expect(seconds(step, answer)).toBe(expected);
});

test("the delay varies by a fifth, and the last step has none", () => {
  expect([0, 1].map((random) => seconds(2, answered(500), random))).toEqual([240, 360]);
  expect(nextTryAt({ step: 10, answer: answered(500), now })).toBeUndefined();
});
