/**
 * A parsed query: a closed union, so that the compiler checks that every case is handled.
 *
 * Every operator belongs to a family, which determines the type of its operand. A new operator in the
 * catalogue does not compile until it has a family here and a test in `matches.ts`.
 */
import type { QueryOperator } from "../../../../tools/cohorts/index.ts";

/** The type of an attribute's values; with `any` it may differ from contact to contact. */
export type ValueType = "text" | "number" | "date" | "boolean" | "tags" | "enum" | "any";

export type Attribute =
  | { readonly type: Exclude<ValueType, "enum"> }
  /** `expected` replaces the list of values in error messages when the list is too long. */
  | { readonly type: "enum"; readonly values: readonly string[]; readonly expected?: string };

/** The attributes by name; a part in angle brackets stands for any path: `metadata.<path>`. */
export type Attributes = Readonly<Record<string, Attribute>>;

/** An operand: text is normalized, a time is a Date. */
export type Value = string | number | boolean | Date;

export interface Operands {
  readonly equality: Value;
  readonly membership: readonly Value[];
  readonly part: string;
  readonly edge: string;
  readonly order: number | Date;
  /** Inclusive on both sides; both have the same type, and the first is not greater than the second. */
  readonly range: readonly [number | Date, number | Date];
  readonly time: Date;
  /** Milliseconds. */
  readonly span: number;
  readonly set: readonly string[];
  readonly presence: undefined;
}

export const operatorFamilies = {
  eq: "equality",
  neq: "equality",
  contains: "part",
  not_contains: "part",
  starts_with: "edge",
  ends_with: "edge",
  in: "membership",
  not_in: "membership",
  gt: "order",
  gte: "order",
  lt: "order",
  lte: "order",
  between: "range",
  exists: "presence",
  not_exists: "presence",
  before: "time",
  after: "time",
  within_last: "span",
  not_within_last: "span",
  has_any: "set",
  has_all: "set",
} as const satisfies Record<QueryOperator, keyof Operands>;

export type OperandOf<Operator extends QueryOperator> = Operands[(typeof operatorFamilies)[Operator]];

/** One comparison; generic, so that the operand's type follows from the operator. */
export type Condition<Operator extends QueryOperator = QueryOperator> = {
  readonly [Name in Operator]: {
    readonly kind: "condition";
    readonly attribute: string;
    readonly type: ValueType;
    readonly operator: Name;
    readonly value: OperandOf<Name>;
  };
}[Operator];

/** The operators that negate another operator. */
export const opposites = {
  neq: "eq",
  not_contains: "contains",
  not_in: "in",
  not_exists: "exists",
  not_within_last: "within_last",
} as const satisfies { readonly [Operator in QueryOperator]?: QueryOperator };

/** A condition whose operator negates no other operator. */
export type PositiveCondition = Condition<Exclude<QueryOperator, keyof typeof opposites>>;

/** An `and` without queries matches everything; no other group is empty. */
export type Query =
  | { readonly kind: "and"; readonly queries: readonly Query[] }
  | { readonly kind: "or"; readonly queries: readonly Query[] }
  | { readonly kind: "not"; readonly query: Query }
  | Condition;

/** The attributes that the conditions of a query name. */
export function attributesOf(query: Query): string[] {
  if (query.kind === "condition") {
    return [query.attribute];
  }
  return (query.kind === "not" ? [query.query] : query.queries).flatMap(attributesOf);
}
