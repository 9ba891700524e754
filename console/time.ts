/** Times in the words of the reader's language and time zone. */
import { signal } from "@preact/signals";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The present time, changed every half minute, for what counts down. */
export const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, minuteMs / 2);

const clockTime = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short" });
const shortDate = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const longDate = new Intl.DateTimeFormat(undefined, {
  weekday: "long",
  day: "numeric",
  month: "long",
  year: "numeric",
});
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const complete = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** Today the time, in the last six days the weekday, else the date. */
export function formatTime(timestamp: string): string {
  const date = new Date(timestamp);
  if (date.toDateString() === new Date(now.value).toDateString()) {
    return clockTime.format(date);
  }
  return (now.value - date.getTime() < 6 * dayMs ? weekday : shortDate).format(date);
}

export function formatClock(timestamp: string): string {
  return clockTime.format(new Date(timestamp));
}

export function formatDay(timestamp: string): string {
  return longDate.format(new Date(timestamp));
}

/** The date and the time of day. */
export function formatMoment(timestamp: string): string {
  return moment.format(new Date(timestamp));
}

/** The same, with seconds. */
export function formatComplete(timestamp: string): string {
  return complete.format(new Date(timestamp));
}

/** What is left until a time, in hours or minutes: `5 hr`; null when the time has passed. */
export function formatTimeLeft(timestamp: string): string | null {
  const left = Date.parse(timestamp) - now.value;
  if (left <= 0) {
    return null;
  }
  return left >= hourMs
    ? formatUnit(Math.floor(left / hourMs), "hour")
    : formatUnit(Math.ceil(left / minuteMs), "minute");
}

/** How long ago a time was, in days, hours or minutes, rounded down: `5 hr`. */
export function formatTimeSince(timestamp: string): string {
  const since = Math.max(now.value - Date.parse(timestamp), 0);
  if (since >= 2 * dayMs) {
    return formatUnit(Math.floor(since / dayMs), "day");
  }
  return since >= hourMs
    ? formatUnit(Math.floor(since / hourMs), "hour")
    : formatUnit(Math.floor(since / minuteMs), "minute");
}

function formatUnit(value: number, unit: "day" | "hour" | "minute"): string {
  return new Intl.NumberFormat(undefined, { style: "unit", unit, unitDisplay: "short" }).format(value);
}

/** A time as a field of a local time has it, to the minute; empty without one. */
export function toLocal(timestamp: string | null): string {
  if (timestamp === null) {
    return "";
  }
  const date = new Date(timestamp);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * minuteMs);
  return local.toISOString().slice(0, "2026-01-31T09:00".length);
}

/** The time that a field of a local time has; null if it is empty. */
export function fromLocal(value: string): string | null {
  return value === "" ? null : new Date(value).toISOString();
}
