/** A log that loads its library with the first entry: most runs of `tidings mcp` log nothing. */
import type { LogSettings } from "../adapters/log/pino.ts";
import type { Log } from "../ports/telemetry/log.ts";

const silent = () => undefined;

/** For commands whose output says all that there is to say. */
export const silentLog: Log = { debug: silent, info: silent, warn: silent, error: silent };

type LogLoader = () => Promise<Pick<typeof import("../adapters/log/pino.ts"), "createLog">>;

/**
 * If the library can't be loaded, for example because an update has replaced it while the program runs,
 * warnings and errors are printed with their message only.
 */
export function createLazyLog(
  settings: LogSettings,
  load: LogLoader = () => import("../adapters/log/pino.ts"),
): Log {
  let loading: Promise<Log> | undefined;
  const write = (method: keyof Log) => (facts: object, message: string) => {
    loading ??= load().then(({ createLog }) => createLog(settings));
    loading.then(
      (log) => log[method](facts, message),
      () => (method === "warn" || method === "error") && console.error(`tidings: ${message}`),
    );
  };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}
