/** The time limit for the answers of a database connection. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { answerMarginMs } from "../src/database/outage/index.ts";
import { createAnswerTimer } from "../src/database/pool/answer-timer.ts";

const limitMs = 15_000 + answerMarginMs;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function wait() {
  const errors: Error[] = [];
  const timer = createAnswerTimer((error) => errors.push(error));
  let answer = (_: string) => {};
  timer.restart();
  const result = timer.within(new Promise<string>((resolve) => (answer = resolve)));
  return { errors, answer, result, stop: timer.stop };
}

test("a statement without an answer fails at the limit", async () => {
  const { errors, result } = wait();
  const failure = expect(result).rejects.toThrow("The database did not answer in time.");
  vi.advanceTimersByTime(limitMs - 1);
  expect(errors).toHaveLength(0);
  vi.advanceTimersByTime(1);
  await failure;
  expect(errors).toHaveLength(1);
});

test("an answer that arrived while the process was frozen counts", async () => {
  const { errors, answer, result, stop } = wait();
  vi.advanceTimersByTime(limitMs - 1);
  // The timer fires a minute late, before the process has read the answer.
  const now = performance.now() + 60_000;
  vi.spyOn(performance, "now").mockReturnValue(now);
  vi.advanceTimersByTime(1);
  answer("answer");
  await expect(result).resolves.toBe("answer");
  stop();
  expect(errors).toHaveLength(0);
});

test("after the process was frozen, the limit begins again", async () => {
  const { errors, result } = wait();
  const failure = expect(result).rejects.toThrow("The database did not answer in time.");
  vi.advanceTimersByTime(limitMs - 1);
  const frozen = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 60_000);
  vi.advanceTimersByTime(1);
  expect(errors).toHaveLength(0);
  frozen.mockRestore();
  vi.advanceTimersByTime(limitMs);
  await failure;
  expect(errors).toHaveLength(1);
});
