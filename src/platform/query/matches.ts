/**
 * Whether a query holds for a contact or a conversation, in memory.
 *
 * Every `not_…` and `neq` is exactly the negation of its opposite. What is missing (null, an empty list)
 * matches no positive operator, and so all of the negative ones: also `not_within_last`, because who has
 * never written has not written in the last seven days. A list matches when one of its elements does.
 */
import type { QueryOperator } from "../../../tools/cohorts.ts";
import { elementsOf, type Facts, isEqual, lookUp, momentOf, orderOf, textOf } from "./facts.ts";
import type { Condition, OperandOf, Query, Value } from "./query.ts";

export function matches(query: Query, facts: Facts, now: Date): boolean {
  if (query.kind === "and") {
    return query.queries.every((one) => matches(one, facts, now));
  }
  if (query.kind === "or") {
    return query.queries.some((one) => matches(one, facts, now));
  }
  if (query.kind === "not") {
    return !matches(query.query, facts, now);
  }
  return holds(query, lookUp(facts, query.attribute), now);
}

type Test<Operand> = (fact: unknown, operand: Operand, now: Date) => boolean;

const equals: Test<Value> = (fact, value) => elementsOf(fact).some((one) => isEqual(one, value));
const isIn: Test<readonly Value[]> = (fact, values, now) => values.some((value) => equals(fact, value, now));
const exists: Test<undefined> = (fact) => elementsOf(fact).length > 0;
const follows: Test<number | Date> = (fact, value) => compares(fact, value, (order) => order > 0);
const precedes: Test<number | Date> = (fact, value) => compares(fact, value, (order) => order < 0);
// A list contains its elements; text contains its parts.
const contains: Test<string> = (fact, part, now) =>
  Array.isArray(fact) ? equals(fact, part, now) : (textOf(fact)?.includes(part) ?? false);
const isWithinLast: Test<number> = (fact, ms, now) =>
  elementsOf(fact).some((one) => {
    const age = now.getTime() - momentOf(one);
    return age >= 0 && age <= ms;
  });

const tests: { readonly [Operator in QueryOperator]: Test<OperandOf<Operator>> } = {
  eq: equals,
  neq: negate(equals),
  contains,
  not_contains: negate(contains),
  starts_with: (fact, part) => elementsOf(fact).some((one) => textOf(one)?.startsWith(part) ?? false),
  ends_with: (fact, part) => elementsOf(fact).some((one) => textOf(one)?.endsWith(part) ?? false),
  in: isIn,
  not_in: negate(isIn),
  gt: follows,
  gte: (fact, value) => compares(fact, value, (order) => order >= 0),
  lt: precedes,
  lte: (fact, value) => compares(fact, value, (order) => order <= 0),
  between: (fact, [low, high]) =>
    elementsOf(fact).some((one) => orderOf(one, low) >= 0 && orderOf(one, high) <= 0),
  exists,
  not_exists: negate(exists),
  before: precedes,
  after: follows,
  within_last: isWithinLast,
  not_within_last: negate(isWithinLast),
  has_any: isIn,
  has_all: (fact, values, now) => values.every((value) => equals(fact, value, now)),
};

function holds<Operator extends QueryOperator>(
  { operator, value }: Condition<Operator>,
  fact: unknown,
  now: Date,
): boolean {
  return tests[operator](fact, value, now);
}

function compares(fact: unknown, value: number | Date, isMet: (order: number) => boolean): boolean {
  return elementsOf(fact).some((one) => isMet(orderOf(one, value)));
}

function negate<Operand>(test: Test<Operand>): Test<Operand> {
  return (fact, operand, now) => !test(fact, operand, now);
}
