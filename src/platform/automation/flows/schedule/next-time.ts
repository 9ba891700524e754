/**
 * The times of a cron pattern in a time zone, by the rules of Vixie cron.
 *
 * A pattern that names its hours runs once for each named time: in the first pass of an hour that the clocks
 * repeat, and for skipped times at the first minute after the gap. A pattern of every hour (its field of
 * hours begins with *) follows the elapsed time: it runs in both passes of a repeated hour, and not for
 * skipped times.
 */
import { Cron } from "croner";
import { firstInstantOf, instantsOf, isNearChange, shownAt } from "../../../../time/zone.ts";

/** Twice the longest time that the clocks repeat. */
const repeatedMs = 3 * 3_600_000;

/** Whether the text has five fields that cron understands. */
export function isPattern(pattern: string): boolean {
  if (pattern.trim().split(/\s+/).length !== 5) {
    return false;
  }
  try {
    return createCron(pattern) !== undefined;
  } catch {
    return false;
  }
}

/** The first matching time after `after`; null if the pattern never matches. */
export function nextTime(pattern: string, zone: string, after: Date): Date | null {
  const time = after.getTime();
  const [, hours = ""] = pattern.trim().split(/\s+/);
  const next = hours.startsWith("*") ? nextByPassing(pattern, zone, time) : nextByName(pattern, zone, time);
  return next === null ? null : new Date(next);
}

function nextByName(pattern: string, zone: string, after: number): number | null {
  for (const shown of shownTimes(pattern, shownAt(zone, after))) {
    const instant = firstInstantOf(zone, shown);
    // In the second pass of a repeated hour, the times of the first pass are over.
    if (instant > after) {
      return instant;
    }
  }
  return null;
}

function nextByPassing(pattern: string, zone: string, after: number): number | null {
  const now = shownAt(zone, after);
  if (isNearChange(zone, after)) {
    // Times of the second pass may come before later times of the first pass.
    const instants = [];
    for (const shown of shownTimes(pattern, now - repeatedMs)) {
      if (shown > now + repeatedMs) {
        break;
      }
      instants.push(...instantsOf(zone, shown).filter((instant) => instant > after));
    }
    if (instants.length > 0) {
      return Math.min(...instants);
    }
  }
  for (const shown of shownTimes(pattern, now)) {
    const instant = instantsOf(zone, shown).find((one) => one > after);
    if (instant !== undefined) {
      return instant;
    }
  }
  return null;
}

/** The times after `after` that match the pattern on clocks without changes. */
function* shownTimes(pattern: string, after: number): Generator<number> {
  const cron = createCron(pattern);
  for (let next = cron.nextRun(new Date(after)); next; next = cron.nextRun(next)) {
    yield next.getTime();
  }
}

function createCron(pattern: string): Cron {
  return new Cron(pattern, { utcOffset: 0, mode: "5-part" });
}
