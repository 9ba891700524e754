/** The log: pino on stderr only, because stdout belongs to MCP. */
import pino from "pino";
import type { Log } from "../../ports/telemetry/log.ts";
import { describeEntry } from "./readable.ts";

export interface LogSettings {
  readonly level: string;
  /** `auto`: `text` if stderr is a terminal, and otherwise `json`. */
  readonly format: "auto" | "text" | "json";
  /**
   * Secrets to redact, such as the configured key. Values under 6 characters are ignored, because they would
   * redact words.
   */
  readonly secrets: readonly string[];
}

/** Secrets that are recognized by their form, anywhere in a line. */
const secretForms = /\b(?:sk_live_|rt_|whsec_|eyJ)[\w.-]{8,}/g;

export function createLog({ level, format, secrets }: LogSettings): Log {
  const variants = secrets
    .filter((value) => value.length >= 6)
    .flatMap((value) => [value, escapeJson(value)]);
  const redact = (line: string) =>
    variants.reduce(
      (text, value) => text.replaceAll(value, "[secret]"),
      line.replace(secretForms, "[secret]"),
    );
  const isText = format === "text" || (format === "auto" && process.stderr.isTTY);
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: { streamWrite: isText ? (line) => describeEntry(redact(line)) : redact },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** The value in the form in which it appears in a line of JSON. */
function escapeJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
