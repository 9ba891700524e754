/** The end of an exchange: when its time is up, when its caller gives up, or when the house stops. */

export interface Deadline {
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

export function startDeadline(timeoutMs: number, endings: readonly AbortSignal[]): Deadline {
  const controller = new AbortController();
  const begin = performance.now();
  let ended: Deadline["ended"];
  const end = (why: Deadline["ended"]) => {
    ended ??= why;
    controller.abort();
  };
  const giveUp = () => end("aborted");
  const timer = setTimeout(() => end("timeout"), timeoutMs);
  for (const ending of endings) {
    ending.addEventListener("abort", giveUp, { once: true });
  }
  if (endings.some(({ aborted }) => aborted)) {
    giveUp();
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
      for (const ending of endings) {
        ending.removeEventListener("abort", giveUp);
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
