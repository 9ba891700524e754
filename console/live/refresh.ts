/** Coalesces requests to read something again: one read at a time, and one more for requests during it. */

import { untilLive } from "./live.ts";

interface Refresher {
  (): void;
  /** Reads for the first time, once the stream of events is open. */
  start(): void;
  /** Stops future reads. */
  stop(): void;
}

interface Options {
  /** How long further requests are collected before a read. */
  readonly delayMs: number;
  /** Reads also in a tab that nobody sees; by default it reads when it is shown. */
  readonly whileHidden?: boolean;
}

const retryMs = 3_000;

/**
 * @param read reads and stores the present state; its errors are its own. It returns false to be called again
 *   after some seconds, because it failed for now.
 */
export function createRefresher(
  read: () => Promise<boolean>,
  { delayMs, whileHidden = false }: Options,
): Refresher {
  let timer: number | undefined;
  let isRunning = false;
  let isWanted = false;
  let isStopped = false;
  const run = async () => {
    timer = undefined;
    // Many tabs that all read would reach the limit of requests.
    if (document.hidden && !whileHidden) {
      document.addEventListener("visibilitychange", request, { once: true });
      return;
    }
    isRunning = true;
    isWanted = false;
    const isDone = await read();
    isRunning = false;
    if (isWanted) {
      request();
    } else if (!isDone && !isStopped) {
      timer = setTimeout(run, retryMs);
    }
  };
  const request = () => {
    if (isRunning) {
      isWanted = true;
    } else if (timer === undefined && !isStopped) {
      timer = setTimeout(run, delayMs);
    }
  };
  return Object.assign(request, {
    start: () =>
      void untilLive().then(() => {
        if (!isRunning && !isStopped && timer === undefined) {
          void run();
        }
      }),
    stop() {
      isStopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", request);
    },
  });
}
