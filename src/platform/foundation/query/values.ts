/** Parses values for comparisons: normalized text, times, durations. */
import { timestamp } from "../../../../tools/contract/index.ts";
import { limitMarks } from "./limit-marks.ts";

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Normalizes case, compatible forms, and the two lower-case sigmas. */
export function normalizeText(text: string): string {
  return limitMarks(text).normalize("NFKC").toLowerCase().normalize("NFKC").replaceAll("ς", "σ");
}

/** A time in ISO 8601 with its UTC offset. */
export function readTimestamp(value: unknown): Date | undefined {
  if (typeof value !== "string" || !timestamp.safeParse(value).success) {
    return undefined;
  }
  const time = new Date(value);
  const year = time.getUTCFullYear();
  // PostgreSQL has no year 0, and there is no common notation for years of more than four digits.
  return year >= 1 && year <= 9999 ? time : undefined;
}

/**
 * The milliseconds of "30m", "24h" or "7d". At most five digits (273 years), so that no date is out of range.
 */
export function readDuration(value: unknown): number | undefined {
  const [, count, unit = ""] = (typeof value === "string" && /^([1-9]\d{0,4})([mhd])$/.exec(value)) || [];
  const length = unitMs[unit];
  return length === undefined ? undefined : Number(count) * length;
}
