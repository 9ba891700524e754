/**
 * Compares the value of an attribute with the operand of a condition.
 *
 * A value in SQL has one of two shapes: `oneValue`, or `listOfValues`, which meets a condition if any of its
 * elements does. Each operator is written once, for both shapes.
 */
import { sql } from "kysely";
import { type Expression, type Predicate, parameter } from "./predicate.ts";
import type { Condition, PositiveCondition, Value } from "./query.ts";

/** A value, or a list of values, in each form in which it can be compared. */
export interface Forms {
  /** Normalized by `normalizeText`, like the operands. */
  readonly text?: Expression | undefined;
  readonly number?: Expression | undefined;
  readonly time?: Expression | undefined;
}

export interface ComparedValue extends Forms {
  readonly shape: Shape;
}

/** How SQL compares a value of this shape. */
interface Shape {
  /** `operands` is an array. */
  isOneOf(value: Expression, operands: Expression): Predicate;
  /**
   * Tests `operand comparison value`. SQL allows `any(list)` only on the right, so `gt` has the comparison
   * `<`.
   */
  isOrdered(operand: Expression, comparison: Expression, value: Expression): Predicate;
  isBetween(value: Expression, low: Expression, high: Expression): Predicate;
  startsWith(text: Expression, part: Expression): Predicate;
  endsWith(text: Expression, part: Expression): Predicate;
  /** A list contains its elements, a text its substrings. */
  contains(text: Expression, part: string): Predicate;
}

export const oneValue: Shape = {
  isOneOf: (value, operands) => sql`${value} = any (${operands})`,
  isOrdered: (operand, comparison, value) => sql`${operand} ${comparison} ${value}`,
  isBetween: (value, low, high) => sql`${value} between ${low} and ${high}`,
  startsWith: (text, part) => sql`starts_with(${text}, ${part})`,
  endsWith: (text, part) => sql`right(${text}, length(${part})) = ${part}`,
  contains: (text, part) => sql`strpos(${text}, ${part}::text) > 0`,
};

export const listOfValues: Shape = {
  isOneOf: (list, operands) => sql`${list} && (${operands})`,
  isOrdered: (operand, comparison, list) => sql`${operand} ${comparison} any(${list})`,
  isBetween: (list, low, high) => sql`any_between(${list}, ${low}, ${high})`,
  startsWith: (list, part) => sql`any_starts_with(${list}, ${part})`,
  endsWith: (list, part) => sql`any_ends_with(${list}, ${part})`,
  contains: (list, element) => sql`(${list} && (${[element]}::text[]))`,
};

/**
 * The operators that compare a value. `exists` tests whether there is a value, `has_any` and `has_all` a list
 * of tags.
 */
type ValueOperator = Exclude<PositiveCondition["operator"], "exists" | "has_any" | "has_all">;

type Test<Operator extends ValueOperator> = (
  value: ComparedValue,
  operand: Condition<Operator>["value"],
  now: Date,
) => Predicate;

const tests: { readonly [Operator in ValueOperator]: Test<Operator> } = {
  eq: (value, operand) => isOneOf(value, [operand]),
  in: isOneOf,
  contains: ({ shape, text }, part) => shape.contains(required(text), part),
  starts_with: ({ shape, text }, part) => shape.startsWith(required(text), sql`${part}::text`),
  ends_with: ({ shape, text }, part) => shape.endsWith(required(text), sql`${part}::text`),
  gt: (value, operand) => isOrdered(operand, sql`<`, value),
  gte: (value, operand) => isOrdered(operand, sql`<=`, value),
  lt: (value, operand) => isOrdered(operand, sql`>`, value),
  lte: (value, operand) => isOrdered(operand, sql`>=`, value),
  after: (value, operand) => isOrdered(operand, sql`<`, value),
  before: (value, operand) => isOrdered(operand, sql`>`, value),
  between: isBetween,
  within_last: (value, ms, now) => isBetween(value, [new Date(now.getTime() - ms), now]),
};

/** Whether the value meets the condition. */
export function compareValue(
  value: ComparedValue,
  { operator, value: operand }: PositiveCondition,
  now: Date,
): Predicate {
  if (!Object.hasOwn(tests, operator)) {
    throw new Error(`The operator ${operator} does not compare a value.`);
  }
  // The operand's type follows from the operator, which TypeScript does not connect here.
  const test = tests[operator as ValueOperator] as (
    value: ComparedValue,
    operand: unknown,
    now: Date,
  ) => Predicate;
  return test(value, operand, now);
}

/**
 * Equality compares times as times, and everything else as text, so that 5 equals "5": the answer to a
 * question is stored as text. Only numbers and times have an order, so `isOrdered` and `isBetween` compare
 * numbers as numbers.
 */
function isOneOf({ shape, text, time }: ComparedValue, operands: readonly Value[]): Predicate {
  const times = operands.flatMap((operand) => (operand instanceof Date ? operand.toISOString() : []));
  const texts = operands.flatMap((operand) => (operand instanceof Date ? [] : String(operand)));
  const matches = [
    ...(texts.length > 0 ? [shape.isOneOf(required(text), sql`${texts}::text[]`)] : []),
    ...(times.length > 0 ? [shape.isOneOf(required(time), sql`${times}::timestamptz[]`)] : []),
  ];
  return sql<boolean>`(${sql.join(matches, sql` or `)})`;
}

function isOrdered(operand: number | Date, comparison: Expression, value: ComparedValue): Predicate {
  return value.shape.isOrdered(parameter(operand), comparison, formFor(operand, value));
}

function isBetween(value: ComparedValue, [low, high]: readonly [number | Date, number | Date]): Predicate {
  return value.shape.isBetween(formFor(low, value), parameter(low), parameter(high));
}

/** The form of a value that is compared with this operand. */
function formFor(operand: number | Date, { number, time }: Forms): Expression {
  return required(operand instanceof Date ? time : number);
}

/** The parser has checked that the operator applies to the attribute, whose value then has this form. */
function required(form: Expression | undefined): Expression {
  if (!form) {
    throw new Error("The operator does not apply to the attribute.");
  }
  return form;
}
