/** Tells a client that asked for it how long a call will still wait. */

/** Sends one `notifications/progress`; undefined when the request asked for none. */
export type ReportProgress = (progress: {
  readonly progress: number;
  readonly total: number;
  readonly message: string;
}) => Promise<void>;

/** Well within the 60 s after which clients give up on a call of which they hear nothing. */
const intervalMs = 5_000;

/** Reports the seconds that have passed, until it is disposed of. */
export function reportWaiting(report: ReportProgress | undefined, waitMs: number): Disposable {
  const total = Math.round(waitMs / 1000);
  const begin = performance.now();
  const sendProgress = () => {
    const progress = Math.min(total, Math.round((performance.now() - begin) / 1000));
    // Whoever is gone by now has cancelled the call too.
    report?.({ progress, total, message: `Waiting for a message: ${total - progress} s left` }).catch(
      () => undefined,
    );
  };
  const timer = report && waitMs > 0 ? setInterval(sendProgress, intervalMs) : undefined;
  return {
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
