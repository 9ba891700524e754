/** A log that loads its library with the first entry: most runs of `tidings mcp` log nothing. */
import type { Log } from "../ports/log.ts";

export function createLazyLog(level: string, secrets: readonly string[]): Log {
  let loading: Promise<Log> | undefined;
  const write = (method: keyof Log) => (facts: object, message: string) => {
    loading ??= import("../adapters/log/pino.ts").then(({ createLog }) => createLog(level, secrets));
    void loading.then((log) => log[method](facts, message));
  };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}
