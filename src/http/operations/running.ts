/** The requests within the process that are running, for which a stopping server waits. */

export interface RunningRequests {
  /** Runs `work` with a signal that aborts with `signal`, or when all requests are aborted. */
  run<Result>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Resolves when no request is running, or all were aborted. */
  idle(): Promise<void>;
  abort(): void;
}

export function createRunningRequests(): RunningRequests {
  const running = new Set<AbortController>();
  let isAborted = false;
  let onIdle = () => {};
  return {
    async run(signal, work) {
      const controller = new AbortController();
      const abort = () => controller.abort();
      signal.addEventListener("abort", abort, { once: true });
      running.add(controller);
      if (signal.aborted || isAborted) {
        abort();
      }
      try {
        return await work(controller.signal);
      } finally {
        signal.removeEventListener("abort", abort);
        running.delete(controller);
        if (running.size === 0) {
          onIdle();
        }
      }
    },
    idle: () =>
      new Promise((resolve) => {
        onIdle = resolve;
        if (running.size === 0 || isAborted) {
          resolve();
        }
      }),
    abort() {
      isAborted = true;
      for (const controller of running) {
        controller.abort();
      }
      onIdle();
    },
  };
}
