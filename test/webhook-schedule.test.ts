/** The wait before a webhook's next try: the step's, what the receiver asks for, and an end. */
import { expect, test } from "vitest";
import { nextTryAt } from "../src/platform/webhooks/schedule.ts";
import type { WebResponse } from "../src/ports/web.ts";

const now = new Date("2026-03-01T10:00:00.000Z");
const answered = (status: number, headers = {}): WebResponse => ({
  ...{ outcome: "answered", status, headers, body: new Uint8Array(), isCut: false, ms: 1 },
});
const seconds = (step: number, answer: WebResponse, random = 0.5) =>
  ((nextTryAt({ step, answer, now, random: () => random })?.getTime() ?? Number.NaN) - now.getTime()) / 1_000;

test.each([
  ["is the step's", 1, answered(500), 5],
  ["is what the receiver asks for", 2, answered(503, { "retry-after": "400" }), 400],
  [
    "is what the receiver asks for as a date",
    2,
    answered(503, { "retry-after": "Sun, 01 Mar 2026 10:07:00 GMT" }),
    420,
  ],
  ["is at most twice the step", 2, answered(503, { "retry-after": "86400" }), 600],
  ["is no less than the step", 2, answered(503, { "retry-after": "1" }), 300],
  ["is a minute at least after 429", 1, answered(429), 60],
  [
    "is a minute at least after a timeout",
    1,
    { outcome: "failed", reason: "timeout", detail: "", ms: 1 } as const,
    60,
  ],
])("%s", (_, step, answer, expected) => {
  expect(seconds(step, answer)).toBe(expected);
});

test("varies by a fifth, and has an end", () => {
  expect([0, 1].map((random) => seconds(2, answered(500), random))).toEqual([240, 360]);
  expect(nextTryAt({ step: 10, answer: answered(500), now })).toBeUndefined();
});
