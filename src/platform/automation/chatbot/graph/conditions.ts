/**
 * The conditions of edges: a closed list of comparisons with the facts of the turn. Nothing is evaluated as
 * code.
 *
 * A condition is one of the words of `shorthands`, or `{field, operator, value}`.
 */
import { removeAccents } from "../../../foundation/query/index.ts";

/** The facts that conditions are compared with. */
export interface TurnFacts {
  /** Whether the last search found a passage that is about the message, or the message is a greeting. */
  readonly found: boolean;
  /** Whether an llm node has given an answer. */
  readonly answered: boolean;
  /** The highest score of the last search; 0 without a passage. */
  readonly score: number;
  /** What the contact wrote. */
  readonly message: string;
}

export type ConditionField = keyof TurnFacts;

export interface TurnCondition {
  readonly field: ConditionField;
  readonly operator: string;
  readonly value: boolean | number | string;
}

/** For each field, its comparisons and the type of its value. */
export const comparisons = {
  found: { type: "boolean", operators: ["eq"] },
  answered: { type: "boolean", operators: ["eq"] },
  score: { type: "number", operators: ["gt", "gte", "lt", "lte"] },
  message: { type: "string", operators: ["eq", "contains", "starts_with"] },
} as const satisfies Record<ConditionField, { readonly type: string; readonly operators: readonly string[] }>;

export const shorthands: Readonly<Record<string, TurnCondition>> = {
  found: { field: "found", operator: "eq", value: true },
  not_found: { field: "found", operator: "eq", value: false },
  answered: { field: "answered", operator: "eq", value: true },
  not_answered: { field: "answered", operator: "eq", value: false },
};

type Compare = (fact: boolean | number | string, value: boolean | number | string) => boolean;

const compare: Readonly<Record<string, Compare>> = {
  eq: (fact, value) => normalize(fact) === normalize(value),
  gt: (fact, value) => fact > value,
  gte: (fact, value) => fact >= value,
  lt: (fact, value) => fact < value,
  lte: (fact, value) => fact <= value,
  contains: (fact, value) => String(normalize(fact)).includes(String(normalize(value))),
  starts_with: (fact, value) => String(normalize(fact)).startsWith(String(normalize(value))),
};

/** A validated condition has an operator of the table. */
export function isMet({ field, operator, value }: TurnCondition, facts: TurnFacts): boolean {
  return compare[operator]?.(facts[field], value) ?? false;
}

/** Texts are compared without case, accents and surrounding spaces. */
function normalize(value: boolean | number | string): boolean | number | string {
  return typeof value === "string" ? removeAccents(value.trim()) : value;
}
