/** The log: pino on stderr only, because stdout belongs to MCP. */
import pino from "pino";
import type { Log } from "../../ports/telemetry/log.ts";

/** Secrets that are recognized by their form, anywhere in a line. */
const secrets = /\b(?:sk_live_|rt_|whsec_|eyJ)[\w.-]{8,}/g;

/**
 * @param values secrets to redact, such as the configured key. Values under 6 characters are ignored, because
 *   they would redact words.
 */
export function createLog(level: string, values: readonly string[] = []): Log {
  const variants = values.filter((value) => value.length >= 6).flatMap((value) => [value, escapeJson(value)]);
  const redact = (line: string) =>
    variants.reduce((text, value) => text.replaceAll(value, "[secret]"), line.replace(secrets, "[secret]"));
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

/** The value in the form in which it appears in a line of JSON. */
function escapeJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
