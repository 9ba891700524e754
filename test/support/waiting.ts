/** Starts calls that wait for messages. */
import { expect, vi } from "vitest";

/** Makes a call, and returns its answer to come as soon as the app waits for messages. */
export async function startWaiting<Answer>(
  call: () => Promise<Answer>,
): Promise<{ answer: Promise<Answer> }> {
  const timers = vi.spyOn(globalThis, "setInterval");
  const answer = call();
  // The test awaits it later.
  answer.catch(() => undefined);
  // The first wait of an organization starts the poll for messages of other processes.
  await expect.poll(() => timers.mock.calls.map(([, ms]) => ms)).toContain(500);
  timers.mockRestore();
  return { answer };
}
