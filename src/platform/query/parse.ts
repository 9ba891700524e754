/**
 * Reads a query as it was sent, or refuses it at the exact place: `conditions.and[1].operator`.
 *
 * Nothing is passed over: an unknown key would widen an audience unseen, and an empty group would make it
 * everybody. Only `{}` means everything.
 */
import { type QueryOperator, queryOperators } from "../../../tools/cohorts.ts";
import { failField } from "../../../tools/errors.ts";
import { readOperand } from "./operands.ts";
import type { Attribute, Attributes, Condition, Query } from "./query.ts";

/** Groups in groups; conditions; and operands, where each of a list counts. */
const limits = { levels: 5, conditions: 50, values: 1_000 } as const;

/** What has been read so far, against the limits. */
interface Reading {
  readonly attributes: Attributes;
  conditions: number;
  values: number;
}

/** A part of the query, where it stands, and how many groups are around it. */
interface Part {
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
}

type Read = (part: Part, reading: Reading) => Query;

const groups: Readonly<Record<Exclude<Query["kind"], "condition">, Read>> = {
  and: (part, reading) => ({ kind: "and", queries: readEach(part, reading) }),
  or: (part, reading) => ({ kind: "or", queries: readEach(part, reading) }),
  not: (part, reading) => ({ kind: "not", query: readPart(part, reading) }),
};

/**
 * @param field - the argument's name, with which every path begins
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
  return readPart({ value, path: field, depth: 0 }, { attributes, conditions: 0, values: 0 });
}

function readPart(part: Part, reading: Reading): Query {
  const { value, path, depth } = part;
  if (!isObject(value)) {
    throw failField(path, "query_malformed", { reason: "an object is expected here." });
  }
  const keys = Object.keys(value);
  const key = keys.find(isGroup);
  if (key === undefined) {
    return readCondition(value, path, reading);
  }
  if (keys.length > 1) {
    throw failField(path, "query_malformed", {
      reason: "a group is and, or, or not, with nothing beside it.",
    });
  }
  if (depth === limits.levels) {
    throw tooLarge(path, "levels");
  }
  return groups[key]({ value: value[key], path: `${path}.${key}`, depth: depth + 1 }, reading);
}

function readEach({ value, path, depth }: Part, reading: Reading): Query[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw failField(path, "query_malformed", { reason: "a list that is not empty is expected here." });
  }
  return value.map((one, index) => readPart({ value: one, path: `${path}[${index}]`, depth }, reading));
}

function readCondition(
  { attribute: name, operator, value, ...rest }: Readonly<Record<string, unknown>>,
  path: string,
  reading: Reading,
): Condition {
  const [stranger] = Object.keys(rest);
  if (stranger !== undefined) {
    const known = "attribute, operator, value; or and, or, not";
    throw failField(`${path}.${show(stranger)}`, "unknown_argument", { value: show(stranger), known });
  }
  count(reading, { counted: "conditions", by: 1, path });
  const attribute = findAttribute(reading.attributes, name);
  if (typeof name !== "string" || attribute === undefined) {
    const known = Object.keys(reading.attributes).join(", ");
    throw failField(`${path}.attribute`, "unknown_attribute", { value: show(name), known });
  }
  if (!isOperator(operator)) {
    const known = queryOperators.join(", ");
    throw failField(`${path}.operator`, "unknown_operator", { value: show(operator), known });
  }
  count(reading, { counted: "values", by: Array.isArray(value) ? value.length : 1, path: `${path}.value` });
  const operand = readOperand({ value, path: `${path}.value`, name, operator, attribute }, path);
  // The reader was chosen by this operator, so that its operand is this one's.
  return { kind: "condition", attribute: name, type: attribute.type, operator, value: operand } as Condition;
}

/** The attribute by its own name, or by that of its family: `metadata.city` is a `metadata.<path>`. */
function findAttribute(attributes: Attributes, name: unknown): Attribute | undefined {
  if (typeof name !== "string") {
    return undefined;
  }
  const key = Object.keys(attributes).find((known) => {
    const [, start, end] = /^(.*)<\w+>(.*)$/.exec(known) ?? [];
    if (start === undefined || end === undefined) {
      return known === name;
    }
    const path = name.slice(start.length, name.length - end.length);
    return name === `${start}${path}${end}` && !path.split(".").includes("");
  });
  return key === undefined ? undefined : attributes[key];
}

function count(
  reading: Reading,
  { counted, by, path }: { counted: "conditions" | "values"; by: number; path: string },
): void {
  reading[counted] += by;
  if (reading[counted] > limits[counted]) {
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

/** What was sent, in a sentence: short, and well-formed wherever it is cut. */
function show(value: unknown): string {
  if (typeof value === "string") {
    return value.slice(0, 64).toWellFormed();
  }
  return value === undefined ? "none was sent" : "what was sent is no text";
}
