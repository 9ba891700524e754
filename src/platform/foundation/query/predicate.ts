/** Conditions and expressions in SQL. */
import { type RawBuilder, sql } from "kysely";

/** Null means false. */
export type Predicate = RawBuilder<boolean>;

/** An expression whose value is null if the attribute is missing. */
export type Expression = RawBuilder<unknown>;

const neverNullPredicates = new WeakSet<Predicate>();

/**
 * Marks a predicate that is never null: its negation is a plain `not`, which the planner can turn into a
 * join.
 */
export function neverNull(predicate: Predicate): Predicate {
  neverNullPredicates.add(predicate);
  return predicate;
}

/** True if the predicate is false or null. */
export function negate(predicate: Predicate): Predicate {
  const isNeverNull = neverNullPredicates.has(predicate);
  return neverNull(isNeverNull ? sql<boolean>`not ${predicate}` : sql<boolean>`(${predicate}) is not true`);
}

export function parameter(operand: number | Date): Expression {
  return operand instanceof Date
    ? sql`${operand.toISOString()}::timestamptz`
    : sql`${String(operand)}::float8`;
}
