/**
 * Parses a query, and rejects an invalid one with the exact place: `conditions.and[1].operator`.
 *
 * Nothing is ignored: without the unknown key or the empty group a query would match more contacts than its
 * author intended. Only `{}` matches everything.
 */
import { type QueryOperator, queryOperators } from "../../../../tools/cohorts/index.ts";
import { nearestName } from "../../../../tools/contract/index.ts";
import { failField } from "../../../../tools/errors.ts";
import { cutText } from "../../../texts/cut.ts";
import { readOperand } from "./operands.ts";
import type { Attribute, Attributes, Condition, Query } from "./query.ts";

/** Nested groups, conditions, and operands; each element of a list counts as an operand. */
const limits = { levels: 5, conditions: 50, values: 1_000 } as const;

/** The attributes, and the counts that the limits apply to. */
interface ParseState {
  readonly attributes: Attributes;
  conditions: number;
  values: number;
}

/** A part of the query, its path, and the number of groups around it. */
interface QueryNode {
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
}

type NodeReader = (node: QueryNode, state: ParseState) => Query;

const groups: Readonly<Record<Exclude<Query["kind"], "condition">, NodeReader>> = {
  and: (node, state) => ({ kind: "and", queries: readEach(node, state) }),
  or: (node, state) => ({ kind: "or", queries: readEach(node, state) }),
  not: (node, state) => ({ kind: "not", query: readNode(node, state) }),
};

/**
 * @param field - the argument's name, the start of every path
 * @throws Failure, one of: `query_malformed`, `query_too_large`, `unknown_attribute`, `unknown_operator`,
 * `operator_not_applicable`, `query_value_invalid`, `unknown_argument`; all are 400
 */
export function parseQuery(
  value: unknown,
  { field, attributes }: { readonly field: string; readonly attributes: Attributes },
): Query {
  if (isObject(value) && Object.keys(value).length === 0) {
    return { kind: "and", queries: [] };
  }
  return readNode({ value, path: field, depth: 0 }, { attributes, conditions: 0, values: 0 });
}

function readNode(node: QueryNode, state: ParseState): Query {
  const { value, path, depth } = node;
  if (!isObject(value)) {
    throw failField(path, "query_malformed", { reason: "an object is expected here." });
  }
  const keys = Object.keys(value);
  const key = keys.find(isGroup);
  if (key === undefined) {
    return readCondition(value, path, state);
  }
  if (keys.length > 1) {
    throw failField(path, "query_malformed", {
      reason: "a group has exactly one key: and, or, or not.",
    });
  }
  if (depth === limits.levels) {
    throw tooLarge(path, "levels");
  }
  return groups[key]({ value: value[key], path: `${path}.${key}`, depth: depth + 1 }, state);
}

function readEach({ value, path, depth }: QueryNode, state: ParseState): Query[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw failField(path, "query_malformed", { reason: "a list that is not empty is expected here." });
  }
  return value.map((element, index) => readNode({ value: element, path: `${path}[${index}]`, depth }, state));
}

function readCondition(
  { attribute: name, operator, value, ...rest }: Readonly<Record<string, unknown>>,
  path: string,
  state: ParseState,
): Condition {
  const [unknownKey] = Object.keys(rest);
  if (unknownKey !== undefined) {
    const known = "attribute, operator, value; or and, or, not";
    throw failField(`${path}.${quote(unknownKey)}`, "unknown_argument", {
      value: quote(unknownKey),
      known,
    });
  }
  count(state, { counted: "conditions", amount: 1, path });
  const attribute = findAttribute(state.attributes, name);
  if (typeof name !== "string" || attribute === undefined) {
    const known = Object.keys(state.attributes);
    const nearest = typeof name === "string" ? nearestName(name, known) : undefined;
    throw failField(`${path}.attribute`, "unknown_attribute", {
      value: quote(name),
      known: known.join(", "),
      ...(nearest !== undefined && { suggestions: [nearest] }),
    });
  }
  if (!isOperator(operator)) {
    const known = queryOperators.join(", ");
    throw failField(`${path}.operator`, "unknown_operator", { value: quote(operator), known });
  }
  count(state, { counted: "values", amount: Array.isArray(value) ? value.length : 1, path: `${path}.value` });
  const operand = readOperand({ value, path: `${path}.value`, name, operator, attribute }, path);
  // readOperand chose the reader by this operator, so the operand has the operator's type.
  return { kind: "condition", attribute: name, type: attribute.type, operator, value: operand } as Condition;
}

/** The attribute of this name; `metadata.city` is found as `metadata.<path>`. */
function findAttribute(attributes: Attributes, name: unknown): Attribute | undefined {
  if (typeof name !== "string") {
    return undefined;
  }
  const key = Object.keys(attributes).find((pattern) => {
    const [, start, end] = /^(.*)<\w+>(.*)$/.exec(pattern) ?? [];
    if (start === undefined || end === undefined) {
      return pattern === name;
    }
    const path = name.slice(start.length, name.length - end.length);
    return name === `${start}${path}${end}` && !path.split(".").includes("");
  });
  return key === undefined ? undefined : attributes[key];
}

function count(
  state: ParseState,
  { counted, amount, path }: { counted: "conditions" | "values"; amount: number; path: string },
): void {
  state[counted] += amount;
  if (state[counted] > limits[counted]) {
    throw tooLarge(path, counted);
  }
}

function tooLarge(path: string, counted: keyof typeof limits) {
  return failField(path, "query_too_large", { limit: limits[counted], counted });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isGroup(key: string): key is keyof typeof groups {
  return Object.hasOwn(groups, key);
}

function isOperator(name: unknown): name is QueryOperator {
  return queryOperators.some((operator) => operator === name);
}

/** A sent value for an error message, cut to 64 characters. */
function quote(value: unknown): string {
  if (typeof value === "string") {
    return cutText(value, 64);
  }
  return value === undefined ? "none was sent" : "a value that is not text";
}
