/** Reports to a client how long a call will still wait, if the client requested progress. */

/** Sends one `notifications/progress`. */
export type ReportProgress = (progress: {
  readonly progress: number;
  readonly total: number;
  readonly message: string;
}) => Promise<void>;

/** Well within the 60 s after which clients give up on a call without progress. */
const intervalMs = 5_000;

/** Reports the seconds that have passed, until it is disposed. */
export function reportWaiting(report: ReportProgress | undefined, waitMs: number): Disposable {
  const total = Math.round(waitMs / 1000);
  const startedAt = performance.now();
  const sendProgress = () => {
    const progress = Math.min(total, Math.round((performance.now() - startedAt) / 1000));
    // A client that has disconnected has also cancelled the call.
    report?.({ progress, total, message: `Waiting for a message: ${total - progress} s left` }).catch(
      () => undefined,
    );
  };
  const timer = report && waitMs > 0 ? setInterval(sendProgress, intervalMs) : undefined;
  return {
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
