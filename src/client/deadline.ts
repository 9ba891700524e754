/** The deadline of a call: its timeout, or the caller's abort. */
import type { Operation } from "../../tools/contract/index.ts";

export interface CallDeadline {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Named in the error message when there is no response. */
  host: string;
  remainingMs(): number;
  /** Throws the caller's reason if the caller aborted. */
  throwIfAborted(): void;
  /** Waits for a promise that can't be aborted itself. */
  within<Value>(promise: Promise<Value>): Promise<Value>;
  /** Call this when the call is over. */
  stop(): void;
}

/** Added to the wait of a call that waits. */
const responseMarginMs = 10_000;

/** How long the input makes an operation wait before it answers; 0 if it does not wait. */
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

/** The timeout of a call: its wait and a margin, or the default if it does not wait. */
export function timeoutFor(waitMs: number, defaultMs: number): number {
  return waitMs > 0 ? waitMs + responseMarginMs : defaultMs;
}

export function startCallDeadline(timeoutMs: number, caller: AbortSignal | undefined): CallDeadline {
  // AbortSignal.any and AbortSignal.timeout cost several times as much on every call.
  const controller = new AbortController();
  const { signal } = controller;
  const end = performance.now() + timeoutMs;
  const abort = () => controller.abort();
  const timer = setTimeout(abort, timeoutMs);
  caller?.addEventListener("abort", abort, { once: true });
  if (caller?.aborted) {
    abort();
  }
  return {
    signal,
    timeoutMs,
    host: "the service",
    remainingMs: () => end - performance.now(),
    throwIfAborted: () => caller?.throwIfAborted(),
    within: (promise) => race(promise, signal),
    stop() {
      clearTimeout(timer);
      caller?.removeEventListener("abort", abort);
    },
  };
}

/** The promise is observed even if the signal has aborted: its failure must not end the process. */
function race<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) {
      abort();
    }
    promise.then(resolve, reject);
  });
}
