/** Where the values of an attribute are in SQL, and the tests of each operator on them. */
import { type RawBuilder, sql } from "kysely";
import type { QueryOperator } from "../../../../tools/cohorts/index.ts";
import type { Condition, Value } from "./query.ts";

/** Null means false. */
export type Predicate = RawBuilder<boolean>;

const total = new WeakSet<Predicate>();

/** Marks a predicate that is never null: its negation is a plain `not`, which the planner can turn into a join. */
export function neverNull(predicate: Predicate): Predicate {
  total.add(predicate);
  return predicate;
}

export function negate(predicate: Predicate): Predicate {
  return neverNull(
    total.has(predicate) ? sql<boolean>`not ${predicate}` : sql<boolean>`(${predicate}) is not true`,
  );
}

/** An expression whose value is null where the attribute is missing. */
export type Expression = RawBuilder<unknown>;

export interface SourceContext {
  readonly organization: string;
  readonly now: Date;
}

type NegativeOperator = "neq" | "not_contains" | "not_in" | "not_exists" | "not_within_last";
type PositiveOperator = Exclude<QueryOperator, NegativeOperator>;
export type PositiveCondition = Condition<PositiveOperator>;

export interface Source {
  /** The row that the expressions refer to: the one that is asked for, or one of those that are related to it. */
  readonly of: "own" | "related";
  test(condition: PositiveCondition): Predicate;
}

/** The source of each attribute, by its name, or its name with a part in angle brackets. */
export type Sources = Readonly<Record<string, (context: SourceContext, attribute: string) => Source>>;

/** A value, or a list of values, in the forms in which it is compared. */
interface Compared {
  readonly isList: boolean;
  /** Normalized. */
  readonly text: Expression | undefined;
  readonly number: Expression | undefined;
  readonly time: Expression | undefined;
}

type ValueOperator = Exclude<PositiveOperator, "exists" | "has_any" | "has_all">;

type Tests = {
  readonly [Operator in ValueOperator]: (
    compared: Compared,
    operand: Extract<PositiveCondition, { readonly operator: Operator }>["value"],
    now: Date,
  ) => Predicate;
};

/** `comparison` is that of the operand with the value, so that it also applies to any element of a list. */
const order =
  (comparison: Predicate) =>
  (compared: Compared, operand: number | Date): Predicate => {
    const value = orderOf(compared, operand);
    return sql<boolean>`${parameter(operand)} ${comparison} ${compared.isList ? sql`any(${value})` : value}`;
  };
const [above, below] = [order(sql`<`), order(sql`>`)];
const [atLeast, atMost] = [order(sql`<=`), order(sql`>=`)];

const isOneOf = (compared: Compared, operands: readonly Value[]): Predicate => {
  const times = operands.flatMap((operand) => (operand instanceof Date ? operand.toISOString() : []));
  const texts = operands.flatMap((operand) => (operand instanceof Date ? [] : String(operand)));
  const comparison = compared.isList ? sql`&&` : sql`= any`;
  const tests = [
    ...(texts.length > 0 ? [sql`${needed(compared.text)} ${comparison} (${texts}::text[])`] : []),
    ...(times.length > 0 ? [sql`${needed(compared.time)} ${comparison} (${times}::timestamptz[])`] : []),
  ];
  return sql<boolean>`(${sql.join(tests, sql` or `)})`;
};

const isBetween = (compared: Compared, [low, high]: readonly [number | Date, number | Date]): Predicate => {
  const value = orderOf(compared, low);
  return compared.isList
    ? sql<boolean>`any_between(${value}, ${parameter(low)}, ${parameter(high)})`
    : sql<boolean>`${value} between ${parameter(low)} and ${parameter(high)}`;
};

const tests: Tests = {
  eq: (compared, operand) => isOneOf(compared, [operand]),
  in: isOneOf,
  // A list contains its elements, a text its substrings.
  contains: (compared, part) =>
    compared.isList
      ? isOneOf(compared, [part])
      : sql<boolean>`strpos(${needed(compared.text)}, ${part}::text) > 0`,
  starts_with: ({ isList, text }, part) =>
    sql<boolean>`${isList ? sql`any_starts_with` : sql`starts_with`}(${needed(text)}, ${part}::text)`,
  ends_with: ({ isList, text }, part) =>
    isList
      ? sql<boolean>`any_ends_with(${needed(text)}, ${part}::text)`
      : sql<boolean>`right(${needed(text)}, length(${part}::text)) = ${part}::text`,
  gt: above,
  gte: atLeast,
  lt: below,
  lte: atMost,
  between: isBetween,
  before: below,
  after: above,
  within_last: (compared, ms, now) => isBetween(compared, [new Date(now.getTime() - ms), now]),
};

function testValue(compared: Compared, { operator, value }: PositiveCondition, now: Date): Predicate {
  if (!Object.hasOwn(tests, operator)) {
    throw new Error(`${operator} has no test for one value.`);
  }
  // The operand's type follows from the operator, which TypeScript does not connect here.
  const test = tests[operator as ValueOperator] as (
    compared: Compared,
    operand: unknown,
    now: Date,
  ) => Predicate;
  return test(compared, value, now);
}

/** An attribute with one value at most: text, a time, or a truth value as text. */
export function optional(
  of: Source["of"],
  {
    text,
    time,
    exists,
  }: { readonly text?: Expression; readonly time?: Expression; readonly exists: Predicate },
) {
  return ({ now }: SourceContext): Source => ({
    of,
    test: (condition) =>
      condition.operator === "exists"
        ? exists
        : testValue({ isList: false, text, number: undefined, time }, condition, now),
  });
}

/** An attribute that is a list of texts; each test gets the operands as an array. */
export function tagList(
  of: Source["of"],
  {
    hasAny,
    hasAll,
    exists,
  }: {
    readonly hasAny: (tags: Expression) => Predicate;
    readonly hasAll: (tags: Expression) => Predicate;
    readonly exists: Predicate;
  },
) {
  return (): Source => ({
    of,
    test({ operator, value }) {
      if (operator === "exists") {
        return exists;
      }
      const operands = sql`${[value].flat().map(String)}::text[]`;
      return operator === "has_all" ? hasAll(operands) : hasAny(operands);
    },
  });
}

/** An attribute in JSON, of any type. `normalized` is the same value with normalized texts. */
export function json(
  of: Source["of"],
  { value, normalized }: { readonly value: Expression; readonly normalized: Expression },
) {
  const single: Compared = {
    isList: false,
    text: sql`json_text(${normalized})`,
    number: sql`json_number(${value})`,
    time: sql`json_time(${value})`,
  };
  const list: Compared = {
    isList: true,
    text: sql`json_texts(${normalized})`,
    number: sql`json_numbers(${value})`,
    time: sql`json_times(${value})`,
  };
  return ({ now }: SourceContext): Source => ({
    of,
    test: (condition) =>
      condition.operator === "exists"
        ? sql<boolean>`(${value} not in ('null'::jsonb, '[]'::jsonb))`
        : sql<boolean>`case jsonb_typeof(${value})
            when 'array' then ${testValue(list, condition, now)} else ${testValue(single, condition, now)} end`,
  });
}

function orderOf({ number, time }: Compared, operand: number | Date): Expression {
  return needed(operand instanceof Date ? time : number);
}

export function parameter(operand: number | Date): Expression {
  return operand instanceof Date
    ? sql`${operand.toISOString()}::timestamptz`
    : sql`${String(operand)}::float8`;
}

/** The parser has checked that the operator applies to the attribute, whose source then has this form. */
function needed(form: Expression | undefined): Expression {
  if (!form) {
    throw new Error("The operator does not apply to the attribute.");
  }
  return form;
}

/** The rows that are related to the one that is asked for, such as the conversations of a contact. */
export interface Related {
  /** Whether there is one that meets the condition; never null. */
  exists(context: SourceContext, condition: Predicate): Predicate;
}
