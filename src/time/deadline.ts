/**
 * The deadline of a call: its time limit, and the signals that end it early.
 *
 * Replaces `AbortSignal.any([signal, AbortSignal.timeout(ms)])`: Node 20 collects such a time limit as
 * garbage while the call waits (nodejs/node#57736), and a request that hangs then never ends.
 */

export interface Deadline {
  /** Aborts at the time limit, or with one of the given signals and its reason. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Why the call was ended early; undefined otherwise. */
  readonly ended: "timeout" | "aborted" | undefined;
  elapsedMs(): number;
  remainingMs(): number;
  /**
   * Stops waiting for a promise at the deadline. The promise itself continues, and its failure is handled.
   */
  within<Value>(promise: Promise<Value>): Promise<Value>;
  /**
   * Throws if the call has ended, or if its time is over but the timer has not run yet, as in a process that
   * was frozen. Call this function right before a request is sent.
   */
  throwIfEnded(): void;
  /** Call this when the call is over. */
  stop(): void;
}

export function startDeadline(timeoutMs: number, signals: readonly AbortSignal[] = []): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const begin = performance.now();
  let ended: Deadline["ended"];
  const end = (why: "timeout" | "aborted", reason: unknown) => {
    ended ??= why;
    controller.abort(reason);
  };
  const passTimeLimit = () =>
    end("timeout", new DOMException(`The call took longer than ${timeoutMs} ms.`, "TimeoutError"));
  const onAbort = ({ target }: Event) =>
    end("aborted", target instanceof AbortSignal ? target.reason : undefined);
  const timer = setTimeout(passTimeLimit, timeoutMs);
  for (const each of signals) {
    each.addEventListener("abort", onAbort, { once: true });
  }
  const aborted = signals.find((each) => each.aborted);
  if (aborted) {
    end("aborted", aborted.reason);
  }
  const elapsedMs = () => Math.round(performance.now() - begin);
  const remainingMs = () => begin + timeoutMs - performance.now();
  return {
    signal,
    timeoutMs,
    get ended() {
      return ended;
    },
    elapsedMs,
    remainingMs,
    within: (promise) => race(promise, signal),
    throwIfEnded() {
      if (remainingMs() <= 0) {
        passTimeLimit();
      }
      signal.throwIfAborted();
    },
    stop() {
      clearTimeout(timer);
      for (const each of signals) {
        each.removeEventListener("abort", onAbort);
      }
    },
  };
}

/** Runs `work` with a deadline that stops when `work` has ended. */
export async function withDeadline<Result>(
  timeoutMs: number,
  signals: readonly AbortSignal[],
  work: (deadline: Deadline) => Promise<Result>,
): Promise<Result> {
  const deadline = startDeadline(timeoutMs, signals);
  try {
    return await work(deadline);
  } finally {
    deadline.stop();
  }
}

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
