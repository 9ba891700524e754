/** The deadline of an exchange: its timeout, the caller's abort, or the shutdown of the app. */

export interface ExchangeDeadline {
  readonly signal: AbortSignal;
  /** Why the exchange was ended early; undefined otherwise. */
  readonly ended: "timeout" | "aborted" | undefined;
  elapsedMs(): number;
  /**
   * Stops waiting at the deadline. undici notices an abort only once it has a connection for the request,
   * which it then does not send.
   */
  within<Value>(promise: Promise<Value>): Promise<Value>;
  /** Call this when the exchange is over. */
  stop(): void;
}

export function startExchangeDeadline(timeoutMs: number, signals: readonly AbortSignal[]): ExchangeDeadline {
  const controller = new AbortController();
  const begin = performance.now();
  let ended: ExchangeDeadline["ended"];
  const end = (reason: ExchangeDeadline["ended"]) => {
    ended ??= reason;
    controller.abort();
  };
  const onAbort = () => end("aborted");
  const timer = setTimeout(() => end("timeout"), timeoutMs);
  for (const each of signals) {
    each.addEventListener("abort", onAbort, { once: true });
  }
  if (signals.some(({ aborted }) => aborted)) {
    onAbort();
  }
  return {
    signal: controller.signal,
    get ended() {
      return ended;
    },
    within: (promise) => race(promise, controller.signal),
    elapsedMs: () => Math.round(performance.now() - begin),
    stop() {
      clearTimeout(timer);
      for (const each of signals) {
        each.removeEventListener("abort", onAbort);
      }
    },
  };
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
