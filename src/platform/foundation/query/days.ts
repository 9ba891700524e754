/**
 * Compares dates in JSON as texts, which is much cheaper than reading them as times.
 *
 * A date without a time means its begin in UTC.
 */
import { sql } from "kysely";
import type { Expression, Predicate } from "./predicate.ts";
import type { PositiveCondition } from "./query.ts";

/**
 * The first and the last day, in milliseconds since the epoch, whose begin meets a condition. The times of
 * conditions are in the years 1 to 9999.
 */
export interface DayRange {
  readonly first: number;
  readonly last: number;
}

const dayMs = 86_400_000;
const firstDay = Date.parse("0001-01-01");
const lastDay = Date.parse("9999-12-31");

/** Undefined if the condition does not compare times by their order. */
export function daysOf({ operator, value }: PositiveCondition, now: Date): DayRange | undefined {
  if (operator === "within_last") {
    return { first: dayFrom(now.getTime() - value), last: dayUntil(now.getTime()) };
  }
  const times = [value].flat().flatMap((operand) => (operand instanceof Date ? operand.getTime() : []));
  const [low, high = low] = times;
  if (low === undefined || high === undefined) {
    return undefined;
  }
  const ranges: { readonly [Operator in PositiveCondition["operator"]]?: Partial<DayRange> } = {
    after: { first: dayUntil(low) + dayMs },
    gt: { first: dayUntil(low) + dayMs },
    gte: { first: dayFrom(low) },
    before: { last: dayFrom(low) - dayMs },
    lt: { last: dayFrom(low) - dayMs },
    lte: { last: dayUntil(low) },
    between: { first: dayFrom(low), last: dayUntil(high) },
  };
  const range = ranges[operator];
  return range && { first: firstDay, last: lastDay, ...range };
}

/** The first day that begins at a time or after it. */
function dayFrom(ms: number): number {
  return Math.ceil(ms / dayMs) * dayMs;
}

/** The last day that begins at a time or before it. */
function dayUntil(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs;
}

/** Whether a text of the form `____-__-__` is in the range, if it is a date. */
export function isDayWithin({ first, last }: DayRange, text: Expression): Predicate {
  return isBetweenDays(text, first, last);
}

/** Whether a text of the form `____-__-__` is a date, of a year that is not 0. */
export function isDate(text: Expression, value: Expression): Predicate {
  return sql<boolean>`(${text} ~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$' or json_time(${value}) is not null)`;
}

/**
 * Whether a text that begins with a date can be a time that meets the condition. In its own time zone, the
 * date differs from the day in UTC by one at most, and a time from the begin of its day by less than one.
 */
export function isNear({ first, last }: DayRange, text: Expression): Predicate {
  return isBetweenDays(sql`left(${text}, 10)`, first - 2 * dayMs, last + 2 * dayMs);
}

function isBetweenDays(text: Expression, first: number, last: number): Predicate {
  return sql<boolean>`${text} collate "C" between ${textOf(first)} and ${textOf(last)}`;
}

/** A day as text. A day after the year 9999 is after all texts of dates. */
function textOf(day: number): string {
  return day > lastDay ? "9999-99-99" : new Date(day).toISOString().slice(0, 10);
}
