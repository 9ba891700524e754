/**
 * Evaluates a query for a contact or a conversation, in memory.
 *
 * Every `not_…` and `neq` is exactly the negation of its opposite. A missing fact (null, an empty list)
 * matches no positive operator and therefore every negative one, including `not_within_last`: a contact who
 * has never written has not written in the last seven days. A list matches when one of its elements does.
 */
import type { QueryOperator } from "../../../../tools/cohorts/index.ts";
import { compareFact, comparisonWith, elementsOf, type Facts, readFact, textOf, timeOf } from "./facts.ts";
import type { Condition, OperandOf, Query, Value } from "./query.ts";

export function matchesQuery(query: Query, facts: Facts, now: Date): boolean {
  if (query.kind === "and") {
    return query.queries.every((part) => matchesQuery(part, facts, now));
  }
  if (query.kind === "or") {
    return query.queries.some((part) => matchesQuery(part, facts, now));
  }
  if (query.kind === "not") {
    return !matchesQuery(query.query, facts, now);
  }
  return meetsCondition(query, readFact(facts, query.attribute), now);
}

type Test<Operand> = (fact: unknown, operand: Operand, now: Date) => boolean;

const equals: Test<Value> = (fact, value) => comparisonWith(fact)(value);
const isIn: Test<readonly Value[]> = (fact, values) => values.some(comparisonWith(fact));
const exists: Test<undefined> = (fact) => elementsOf(fact).length > 0;
const follows: Test<number | Date> = (fact, value) => compares(fact, value, (order) => order > 0);
const precedes: Test<number | Date> = (fact, value) => compares(fact, value, (order) => order < 0);
// A list contains its elements, a text its substrings.
const contains: Test<string> = (fact, part, now) =>
  Array.isArray(fact) ? equals(fact, part, now) : (textOf(fact)?.includes(part) ?? false);
const isWithinLast: Test<number> = (fact, ms, now) =>
  elementsOf(fact).some((element) => {
    const age = now.getTime() - timeOf(element);
    return age >= 0 && age <= ms;
  });

const tests: { readonly [Operator in QueryOperator]: Test<OperandOf<Operator>> } = {
  eq: equals,
  neq: negate(equals),
  contains,
  not_contains: negate(contains),
  starts_with: (fact, part) => elementsOf(fact).some((element) => textOf(element)?.startsWith(part) ?? false),
  ends_with: (fact, part) => elementsOf(fact).some((element) => textOf(element)?.endsWith(part) ?? false),
  in: isIn,
  not_in: negate(isIn),
  gt: follows,
  gte: (fact, value) => compares(fact, value, (order) => order >= 0),
  lt: precedes,
  lte: (fact, value) => compares(fact, value, (order) => order <= 0),
  between: (fact, [low, high]) =>
    elementsOf(fact).some((element) => compareFact(element, low) >= 0 && compareFact(element, high) <= 0),
  exists,
  not_exists: negate(exists),
  before: precedes,
  after: follows,
  within_last: isWithinLast,
  not_within_last: negate(isWithinLast),
  has_any: isIn,
  has_all: (fact, values) => values.every(comparisonWith(fact)),
};

function meetsCondition<Operator extends QueryOperator>(
  { operator, value }: Condition<Operator>,
  fact: unknown,
  now: Date,
): boolean {
  return tests[operator](fact, value, now);
}

function compares(fact: unknown, value: number | Date, isMet: (order: number) => boolean): boolean {
  return elementsOf(fact).some((element) => isMet(compareFact(element, value)));
}

function negate<Operand>(test: Test<Operand>): Test<Operand> {
  return (fact, operand, now) => !test(fact, operand, now);
}
