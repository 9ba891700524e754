/**
 * A query once it is understood: a closed union, so that whoever evaluates or compiles it forgets nothing.
 *
 * Every operator belongs to a family, and the family says what its operand is. A new operator in the
 * catalogue does not compile until it has its family here and its test in `matches.ts`.
 */
import type { QueryOperator } from "../../../tools/cohorts.ts";

/** What an attribute holds; `any` is known only when a contact is looked at. */
export type ValueType = "text" | "number" | "date" | "boolean" | "tags" | "enum" | "any";

export type Attribute =
  | { readonly type: Exclude<ValueType, "enum"> }
  /** `expected` says what to send where the list of values is too long for a sentence. */
  | { readonly type: "enum"; readonly values: readonly string[]; readonly expected?: string };

/** What may be asked about, by name; a part in angle brackets stands for any path: `metadata.<path>`. */
export type Attributes = Readonly<Record<string, Attribute>>;

/** An operand: text is folded already, a moment is a Date. */
export type Value = string | number | boolean | Date;

export interface Operands {
  readonly equality: Value;
  readonly membership: readonly Value[];
  readonly part: string;
  readonly edge: string;
  readonly order: number | Date;
  /** Both ends belong to it; they are of one kind, and the first is not greater than the second. */
  readonly range: readonly [number | Date, number | Date];
  readonly time: Date;
  /** Milliseconds. */
  readonly span: number;
  readonly set: readonly string[];
  readonly presence: undefined;
}

export const families = {
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

export type OperandOf<Operator extends QueryOperator> = Operands[(typeof families)[Operator]];

/** One comparison; generic so that an operator and its operand stay together. */
export type Condition<Operator extends QueryOperator = QueryOperator> = {
  readonly [Name in Operator]: {
    readonly kind: "condition";
    readonly attribute: string;
    readonly type: ValueType;
    readonly operator: Name;
    readonly value: OperandOf<Name>;
  };
}[Operator];

/** An `and` of no queries is everything; no other group is empty. */
export type Query =
  | { readonly kind: "and"; readonly queries: readonly Query[] }
  | { readonly kind: "or"; readonly queries: readonly Query[] }
  | { readonly kind: "not"; readonly query: Query }
  | Condition;
