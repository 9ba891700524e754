/**
 * Reports to a client that requested progress how far a waiting call has come: by the counts of the answer,
 * if the operation declares them, or else by the time.
 */
import type { ServerContext } from "@modelcontextprotocol/server";
import type { ProgressFields } from "../../../tools/contract/index.ts";

/** Sends one `notifications/progress`. */
export type ReportProgress = (progress: {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}) => Promise<void>;

/** Sends progress with the request's token; undefined if it has none. */
export function progressReporter({
  _meta,
  notify,
}: Pick<ServerContext["mcpReq"], "_meta" | "notify">): ReportProgress | undefined {
  const progressToken = _meta?.progressToken;
  return progressToken === undefined
    ? undefined
    : (progress) => notify({ method: "notifications/progress", params: { progressToken, ...progress } });
}

/** Well within the 60 s after which clients give up on a call without progress. */
const intervalMs = 5_000;

/** Reports the seconds that have passed, until it is disposed. */
export function reportWaiting(report: ReportProgress | undefined, waitMs: number): Disposable {
  const total = Math.round(waitMs / 1000);
  const startedAt = performance.now();
  const sendProgress = () => {
    const progress = Math.min(total, Math.round((performance.now() - startedAt) / 1000));
    // A client that has disconnected has also cancelled the call.
    report?.({ progress, total, message: `Waiting: ${total - progress} s left` }).catch(() => undefined);
  };
  const timer = report && waitMs > 0 ? setInterval(sendProgress, intervalMs) : undefined;
  return {
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

interface WaitOptions {
  readonly fields: ProgressFields;
  readonly report: ReportProgress;
  readonly waitMs: number;
}

/**
 * Waits in slices, and reports the counts of each that timed out. A value must be greater than the one
 * before, so counts that have not changed are not reported.
 * @param wait waits for so many seconds.
 * @returns the last answer.
 */
export async function waitWithCounts(
  { fields, report, waitMs }: WaitOptions,
  wait: (seconds: number) => Promise<object>,
): Promise<object> {
  const endsAt = performance.now() + waitMs;
  let reported = -1;
  for (;;) {
    const startedAt = performance.now();
    const seconds = Math.min(intervalMs / 1000, Math.round((endsAt - startedAt) / 1000));
    const answer = await wait(seconds);
    const counts = readCounts(answer, fields);
    const now = performance.now();
    // Earlier: the service is stopping.
    const isFullSlice = now - startedAt >= seconds * 1000 - 500;
    if (counts === undefined || !isFullSlice || endsAt - now < 500) {
      return answer;
    }
    if (counts.progress > reported) {
      reported = counts.progress;
      report(counts).catch(() => undefined);
    }
  }
}

/** The counts of a timed-out answer. Every member is checked: the service may not be Tidings. */
function readCounts(answer: object, { counts, total }: ProgressFields) {
  const { data } = answer as { readonly data?: Readonly<Record<string, unknown>> | null };
  if (data?.is_timed_out !== true) {
    return undefined;
  }
  const [first, ...others] = counts.map((name) => ({ name, count: toCount(data[name]) }));
  const all = toCount(data[total]);
  const parts = others.flatMap(({ name, count }) => (count > 0 ? [`${format(count)} ${name}`] : []));
  const progress = others.reduce((sum, { count }) => sum + count, first?.count ?? 0);
  const message = [`${format(first?.count ?? 0)} of ${format(all)} ${first?.name}`, ...parts].join(", ");
  return all > 0 ? { progress, total: all, message } : { progress, message: "Not started" };
}

function toCount(value: unknown): number {
  return Number.isSafeInteger(value) ? Number(value) : 0;
}

function format(count: number): string {
  return count.toLocaleString("en-US");
}
