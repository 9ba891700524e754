/** The log: pino, to stderr and nowhere else, because stdout belongs to MCP. */
import pino from "pino";
import type { Log } from "./ports/log.ts";

/** Secrets by their form, wherever they stand in a line. */
const secrets = /\b(?:sk_live_|rt_|whsec_|eyJ)[\w.-]{8,}/g;

export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: { streamWrite: (line) => line.replace(secrets, "[secret]") },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
