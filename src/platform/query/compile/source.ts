/** Where the values of an attribute are in SQL, and the tests of each operator on them. */
import { type RawBuilder, sql } from "kysely";
import type { QueryOperator } from "../../../../tools/cohorts/index.ts";
import type { Condition, Value } from "../query.ts";
import { numberIn, textIn, timeIn } from "./json.ts";

/** Null means false. */
export type Predicate = RawBuilder<boolean>;

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
  /** The row that the expressions refer to. */
  readonly of: "contact" | "conversation";
  test(condition: PositiveCondition): Predicate;
}

/** The source of each attribute, by its name, or its name with a part in angle brackets. */
export type Sources = Readonly<Record<string, (context: SourceContext, attribute: string) => Source>>;

/** The forms in which one value is compared. */
interface Element {
  /** Normalized. */
  readonly text: () => Expression;
  readonly number: () => Expression;
  readonly time: () => Expression;
}

type Tests<Operator extends QueryOperator> = {
  readonly [Name in Operator]: (
    element: Element,
    operand: Extract<PositiveCondition, { readonly operator: Name }>["value"],
    now: Date,
  ) => Predicate;
};

const order =
  (comparison: Predicate) =>
  (element: Element, operand: number | Date): Predicate =>
    sql<boolean>`${orderOf(element, operand)} ${comparison} ${parameter(operand)}`;
const [above, below] = [order(sql`>`), order(sql`<`)];
const [atLeast, atMost] = [order(sql`>=`), order(sql`<=`)];

const isOneOf = ({ text, time }: Element, operands: readonly Value[]): Predicate => {
  const times = operands.filter((operand) => operand instanceof Date).map((operand) => operand.toISOString());
  const texts = operands.filter((operand) => !(operand instanceof Date)).map(String);
  return anyOf([
    ...(texts.length > 0 ? [sql<boolean>`${text()} = any(${texts}::text[])`] : []),
    ...(times.length > 0 ? [sql<boolean>`${time()} = any(${times}::timestamptz[])`] : []),
  ]);
};

/** The tests of one value; what depends on the kind of attribute is left out. */
const elementTests: Tests<Exclude<PositiveOperator, "exists" | "has_any" | "has_all">> = {
  eq: (element, operand) => isOneOf(element, [operand]),
  in: isOneOf,
  contains: ({ text }, part) => sql<boolean>`strpos(${text()}, ${part}::text) > 0`,
  starts_with: ({ text }, part) => sql<boolean>`starts_with(${text()}, ${part}::text)`,
  ends_with: ({ text }, part) => sql<boolean>`right(${text()}, length(${part}::text)) = ${part}::text`,
  gt: above,
  gte: atLeast,
  lt: below,
  lte: atMost,
  between: (element, [low, high]) =>
    sql<boolean>`${orderOf(element, low)} between ${parameter(low)} and ${parameter(high)}`,
  before: below,
  after: above,
  within_last: ({ time }, ms, now) =>
    sql<boolean>`${time()} between ${parameter(new Date(now.getTime() - ms))} and ${parameter(now)}`,
};

function testElement(element: Element, { operator, value }: PositiveCondition, now: Date): Predicate {
  if (!Object.hasOwn(elementTests, operator)) {
    throw new Error(`${operator} has no test for one value.`);
  }
  // The operand's type follows from the operator, which TypeScript does not connect here.
  const test = elementTests[operator as keyof typeof elementTests] as (
    element: Element,
    operand: unknown,
    now: Date,
  ) => Predicate;
  return test(element, value, now);
}

/** An attribute with one value at most: text, a time, or a truth value. */
export function optional(
  of: Source["of"],
  expressions: { readonly text?: Expression; readonly time?: Expression; readonly exists: Predicate },
) {
  return ({ now }: SourceContext): Source => ({
    of,
    test: (condition) =>
      condition.operator === "exists"
        ? expressions.exists
        : testElement(
            {
              text: () => expressions.text ?? missing(condition),
              number: () => missing(condition),
              time: () => expressions.time ?? missing(condition),
            },
            condition,
            now,
          ),
  });
}

/** An attribute that is a list of texts, in an array of normalized texts. */
export function tagList(of: Source["of"], tags: Expression) {
  return (): Source => ({
    of,
    test({ operator, value }) {
      if (operator === "exists") {
        return sql<boolean>`cardinality(${tags}) > 0`;
      }
      const operands = [value].flat().map(String);
      return operator === "has_all"
        ? sql<boolean>`${tags} @> ${operands}::text[]`
        : sql<boolean>`${tags} && ${operands}::text[]`;
    },
  });
}

/** An attribute in JSON, of any type. `normalized` is the same value with normalized texts. */
export function json(
  of: Source["of"],
  { value, normalized }: { readonly value: Expression; readonly normalized: Expression },
) {
  return ({ now }: SourceContext): Source => ({
    of,
    test(condition) {
      if (condition.operator === "exists") {
        return sql<boolean>`(${value} not in ('null'::jsonb, '[]'::jsonb))`;
      }
      const compared = comparesOrder(condition) ? value : normalized;
      const single = testElement(elementOf(compared), condition, now);
      const member: PositiveCondition =
        // A list contains its elements, a text its substrings.
        condition.operator === "contains" ? { ...condition, operator: "eq" } : condition;
      const listed = testElement(elementOf(sql`member.value`), member, now);
      return sql<boolean>`case jsonb_typeof(${value})
        when 'array' then exists (select from jsonb_array_elements(${compared}) as member where ${listed})
        else ${single} end`;
    },
  });
}

function elementOf(value: Expression): Element {
  return { text: () => textIn(value), number: () => numberIn(value), time: () => timeIn(value) };
}

/** Whether the operator compares numbers or times, which must not be normalized. */
function comparesOrder({ operator }: PositiveCondition): boolean {
  return ["gt", "gte", "lt", "lte", "between", "before", "after", "within_last"].includes(operator);
}

function orderOf({ number, time }: Element, operand: number | Date): Expression {
  return operand instanceof Date ? time() : number();
}

export function parameter(operand: number | Date): Expression {
  return operand instanceof Date
    ? sql`${operand.toISOString()}::timestamptz`
    : sql`${String(operand)}::float8`;
}

function anyOf(predicates: readonly Predicate[]): Predicate {
  return sql<boolean>`(${sql.join(predicates, sql` or `)})`;
}

function missing({ operator, attribute }: PositiveCondition): never {
  throw new Error(`${operator} does not apply to ${attribute}.`);
}
