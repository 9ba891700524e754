/** The end of a call: when its time is up, or when its caller gives up. */
import type { Operation } from "../../tools/contract/index.ts";

export interface Deadline {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Who is being asked, for the sentence that says that no answer came. */
  host: string;
  leftMs(): number;
  /** Throws the caller's reason, if it was the caller who ended the call. */
  throwIfAborted(): void;
  /** Waits for something that can't be aborted itself. */
  within<Value>(promise: Promise<Value>): Promise<Value>;
  /** To be called when the call is over. */
  stop(): void;
}

/** What a call that waits may take beyond its wait. */
const answerMs = 10_000;

/** How long an operation waits by its input, before it must answer; 0 for one that does not wait. */
export function waitMsOf(
  { waits, input }: Pick<Operation, "input"> & Partial<Pick<Operation, "waits">>,
  given: Readonly<Record<string, unknown>>,
): number {
  const seconds = waits ? input.shape.timeout_seconds?.safeParse(given.timeout_seconds).data : 0;
  return typeof seconds === "number" ? seconds * 1000 : 0;
}

/** How long a call may take: a wait's own time and some more, else as long as any. */
export function patienceOf(waitMs: number, otherwiseMs: number): number {
  return waitMs > 0 ? waitMs + answerMs : otherwiseMs;
}

export function startDeadline(timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  // Not AbortSignal.any and AbortSignal.timeout: they cost several times as much on every call.
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
    leftMs: () => end - performance.now(),
    throwIfAborted: () => caller?.throwIfAborted(),
    within: (promise) => race(promise, signal),
    stop() {
      clearTimeout(timer);
      caller?.removeEventListener("abort", abort);
    },
  };
}

async function race<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return Promise.race([promise, aborted]);
}
