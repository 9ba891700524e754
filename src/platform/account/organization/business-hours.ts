/** Finds the next opening and the next time of day in a time zone. */

import type { z } from "zod";
import type { BusinessHours } from "../../../../tools/organization.ts";
import { offsetMs, shownAt } from "../../../time/zone.ts";

type Hours = z.output<typeof BusinessHours>;

const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;
const [minuteMs, dayMs] = [60_000, 86_400_000];

/**
 * Business hours have at most 400 holidays. Within 410 days there is an open day, or there is none at all.
 */
const maxDays = 410;

/**
 * Returns `now` if `now` is within the hours, and null if there is no opening. Without hours it is always
 * open.
 */
export function nextOpening(hours: Hours | null, zone: string, now: Date): Date | null {
  if (!hours) {
    return now;
  }
  const today = dayOf(now, zone);
  for (let ahead = 0; ahead < maxDays; ahead += 1) {
    const day = new Date(today.getTime() + ahead * dayMs);
    for (const { from, to } of intervalsOn(hours, day)) {
      if (timeIn(zone, day, to) > now) {
        const opening = timeIn(zone, day, from);
        return opening > now ? opening : now;
      }
    }
  }
  return null;
}

/** The next occurrence after `now` of a time of day such as 09:00. */
export function nextTimeOfDay(time: string, zone: string, now: Date): Date {
  const today = dayOf(now, zone);
  const [first, second] = [0, 1].map((ahead) =>
    timeIn(zone, new Date(today.getTime() + ahead * dayMs), time),
  );
  return first && first > now ? first : (second ?? now);
}

function intervalsOn(hours: Hours, day: Date) {
  const date = day.toISOString().slice(0, 10);
  const weekday = weekdays[day.getUTCDay()] ?? "sunday";
  return hours.holidays.some((holiday) => holiday.date === date) ? [] : hours[weekday];
}

/** The day in a time zone, as midnight in UTC. */
function dayOf(time: Date, zone: string): Date {
  return new Date(Math.floor(shownAt(zone, time.getTime()) / dayMs) * dayMs);
}

/**
 * Converts a time of a day in a time zone. A time in the hour that a clock change skips becomes an hour
 * later.
 */
function timeIn(zone: string, day: Date, time: string): Date {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  const local = day.getTime() + (hours * 60 + minutes) * minuteMs;
  // The offset at the guess may differ from the offset at the result, near a clock change.
  const guess = local - offsetMs(zone, local);
  return new Date(local - offsetMs(zone, guess));
}
