/**
 * Logs requests that were answered with 503. During an outage it logs one line per second with the number of
 * requests, instead of one line per request.
 */
import type { Log } from "../ports/telemetry/log.ts";

const everyMs = 1_000;

export function createUnavailableLog(log: Log): (error: unknown) => void {
  let count = 0;
  let last: unknown;
  let timer: NodeJS.Timeout | undefined;
  const write = () => {
    timer = undefined;
    if (count > 0) {
      log.error({ count, error: describe(last) }, "Requests were answered with 503");
      count = 0;
      timer = setTimeout(write, everyMs).unref();
    }
  };
  return (error) => {
    count += 1;
    last = error;
    if (timer === undefined) {
      write();
    }
  };
}

/** Without the stack, which is not useful for an outage. */
function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
