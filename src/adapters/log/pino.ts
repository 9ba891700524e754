/** The log: pino, to stderr and nowhere else, because stdout belongs to MCP. */
import pino from "pino";
import type { Log } from "../../ports/log.ts";

/** Secrets by their form, wherever they stand in a line. */
const secrets = /\b(?:sk_live_|rt_|whsec_|eyJ)[\w.-]{8,}/g;

/** @param values secrets by themselves, such as the configured key; too short a text would blot out words. */
export function createLog(level: string, values: readonly string[] = []): Log {
  const written = values.filter((value) => value.length >= 6).flatMap((value) => [value, escapeJson(value)]);
  const redact = (line: string) =>
    written.reduce((text, value) => text.replaceAll(value, "[secret]"), line.replace(secrets, "[secret]"));
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: { streamWrite: redact },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** As it stands inside a line of JSON. */
function escapeJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
