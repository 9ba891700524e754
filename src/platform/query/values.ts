/** Reads a value as a comparison needs it: text without case, a moment, a span of time. */
import { timestamp } from "../../../tools/contract/index.ts";

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Text as it is compared: compatible forms and cases are one, and so are the two small sigmas. */
export function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase().normalize("NFKC").replaceAll("ς", "σ");
}

/** A moment written in ISO 8601 with its offset. */
export function readMoment(value: unknown): Date | undefined {
  if (typeof value !== "string" || !timestamp.safeParse(value).success) {
    return undefined;
  }
  const moment = new Date(value);
  const year = moment.getUTCFullYear();
  // PostgreSQL has no year 0, and years of more digits are written differently everywhere.
  return year >= 1 && year <= 9999 ? moment : undefined;
}

/** Milliseconds of "30m", "24h" or "7d". Five digits of days are 273 years: no date runs out of range. */
export function readSpan(value: unknown): number | undefined {
  const [, count, unit = ""] = (typeof value === "string" && /^([1-9]\d{0,4})([mhd])$/.exec(value)) || [];
  const length = unitMs[unit];
  return length === undefined ? undefined : Number(count) * length;
}
