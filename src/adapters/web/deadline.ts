/** The end of an exchange: when its time is up, when its caller gives up, or when the house stops. */

export interface ExchangeDeadline {
  readonly signal: AbortSignal;
  /** Why it ended before its time; undefined while it has not. */
  readonly ended: "timeout" | "aborted" | undefined;
  elapsedMs(): number;
  /**
   * Waits no longer than this for something that stops by itself, but later: undici hears of an abort only
   * when it has a connection for the request, which it then does not send.
   */
  within<Value>(promise: Promise<Value>): Promise<Value>;
  /** To be called when the exchange is over. */
  stop(): void;
}

export function startExchangeDeadline(timeoutMs: number, signals: readonly AbortSignal[]): ExchangeDeadline {
  const controller = new AbortController();
  const begin = performance.now();
  let ended: ExchangeDeadline["ended"];
  const end = (why: ExchangeDeadline["ended"]) => {
    ended ??= why;
    controller.abort();
  };
  const onAbort = () => end("aborted");
  const timer = setTimeout(() => end("timeout"), timeoutMs);
  for (const ending of signals) {
    ending.addEventListener("abort", onAbort, { once: true });
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
      for (const ending of signals) {
        ending.removeEventListener("abort", onAbort);
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
