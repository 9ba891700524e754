/** The default time limit of a call: how long its operation may wait, and a margin. */
import type { Operation } from "../../tools/contract/index.ts";

/** Added to the wait of an operation that waits. */
const responseMarginMs = 10_000;

/** How long the input makes an operation wait before it responds; 0 if it does not wait. */
export function waitMsOf(
  {
    waits,
    waitSeconds,
    input: schema,
  }: Pick<Operation, "input"> & Partial<Pick<Operation, "waits" | "waitSeconds">>,
  input: Readonly<Record<string, unknown>>,
): number {
  const seconds = waits ? schema.shape.timeout_seconds?.safeParse(input.timeout_seconds).data : waitSeconds;
  return typeof seconds === "number" ? seconds * 1000 : 0;
}

/** The timeout of a call: its wait and a margin, or the default if the operation does not wait. */
export function timeoutFor(waitMs: number, defaultMs: number): number {
  return waitMs > 0 ? waitMs + responseMarginMs : defaultMs;
}
