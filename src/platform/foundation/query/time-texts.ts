/**
 * Compares times in JSON as texts, which is much cheaper than reading them as times.
 *
 * Texts of one form of times in UTC have the same order as their times. A date without a time means its begin
 * in UTC.
 */
import { sql } from "kysely";
import type { Expression, Predicate } from "./predicate.ts";
import type { PositiveCondition } from "./query.ts";

/** The first and the last time that meet a condition, in milliseconds since the epoch. */
export interface TimeRange {
  readonly first: number;
  readonly last: number;
}

/** A form of times in UTC. */
interface Form {
  /** For `like`. */
  readonly pattern: string;
  /** A regular expression for what follows the date. */
  readonly timeOfDay: string;
  /** From a time to the next one that the form can express, in milliseconds. */
  readonly stepMs: number;
  /** From the text of a time with milliseconds. */
  shorten(text: string): string;
}

const dayMs = 86_400_000;
const timeToSecond = "T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]";

const date: Form = {
  pattern: "____-__-__",
  timeOfDay: "",
  stepMs: dayMs,
  shorten: (text) => text.slice(0, 10),
};

const forms: readonly Form[] = [
  date,
  {
    pattern: "____-__-__T__:__:__Z",
    timeOfDay: `${timeToSecond}Z`,
    stepMs: 1_000,
    shorten: (text) => `${text.slice(0, 19)}Z`,
  },
  {
    pattern: "____-__-__T__:__:__.___Z",
    timeOfDay: `${timeToSecond}\\.[0-9]{3}Z`,
    stepMs: 1,
    shorten: (text) => text,
  },
];

const firstTime = Date.parse("0001-01-01T00:00:00.000Z");
const lastTime = Date.parse("9999-12-31T23:59:59.999Z");

/** Undefined if the condition does not compare times by their order. */
export function timesOf({ operator, value }: PositiveCondition, now: Date): TimeRange | undefined {
  if (operator === "within_last") {
    return { first: Math.max(now.getTime() - value, firstTime), last: now.getTime() };
  }
  const times = [value].flat().flatMap((operand) => (operand instanceof Date ? operand.getTime() : []));
  const [low, high = low] = times;
  if (low === undefined || high === undefined) {
    return undefined;
  }
  const ranges: { readonly [Operator in PositiveCondition["operator"]]?: Partial<TimeRange> } = {
    after: { first: low + 1 },
    gt: { first: low + 1 },
    gte: { first: low },
    before: { last: low - 1 },
    lt: { last: low - 1 },
    lte: { last: low },
    between: { first: low, last: high },
  };
  const range = ranges[operator];
  return range && { first: firstTime, last: lastTime, ...range };
}

/**
 * Whether a text is a time in the range. `value` is the same in JSON. Texts of the usual forms are compared;
 * for texts of other forms, the result is `otherwise`.
 */
export function isTimeWithin(
  range: TimeRange,
  {
    text,
    value,
    otherwise,
  }: { readonly text: Expression; readonly value: Expression; readonly otherwise: Predicate },
): Predicate {
  const cases = forms.map(
    (form) => sql`when ${text} like ${sql.lit(form.pattern)}
      then ${isBetween(text, form, range)} and ${isTime(form, text, value)}`,
  );
  return sql<boolean>`case ${sql.join(cases, sql` `)} else ${otherwise} end`;
}

/** Whether a text that has the pattern of a form is a time, of a year that is not 0. */
function isTime({ timeOfDay }: Form, text: Expression, value: Expression): Predicate {
  // Other days of a month are read as times.
  const expression = `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])${timeOfDay}$`;
  return sql<boolean>`(${text} ~ ${sql.lit(expression)} or json_time(${value}) is not null)`;
}

/**
 * Whether a text that begins with a date can be a time in the range. In its own time zone, the date differs
 * from the day in UTC by one at most.
 */
export function isNear({ first, last }: TimeRange, text: Expression): Predicate {
  const range = { first: first - 2 * dayMs, last: last + 2 * dayMs };
  return isBetween(sql`left(${text}, 10)`, date, range);
}

function isBetween(text: Expression, { stepMs, shorten }: Form, { first, last }: TimeRange): Predicate {
  const textOf = (time: number) =>
    // After all texts of times.
    time > lastTime ? "9999-99-99" : shorten(new Date(time).toISOString());
  const low = textOf(Math.ceil(first / stepMs) * stepMs);
  const high = textOf(Math.floor(last / stepMs) * stepMs);
  return sql<boolean>`${text} collate "C" between ${low} and ${high}`;
}
