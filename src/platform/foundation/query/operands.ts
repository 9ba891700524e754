/** Which operators apply to which type of attribute, and how their operands are parsed. */
import { type QueryOperator, queryOperators } from "../../../../tools/cohorts/index.ts";
import type { Failure } from "../../../../tools/contract/index.ts";
import { failField } from "../../../../tools/errors.ts";
import { type Attribute, type Operands, operatorFamilies, type Value, type ValueType } from "./query.ts";
import { normalizeText, readDuration, readTimestamp } from "./values.ts";

/** An operand as it was sent. */
export interface RawOperand {
  readonly value: unknown;
  /** The place of the value, for errors. */
  readonly path: string;
  /** The attribute's name, as it was sent. */
  readonly name: string;
  readonly operator: QueryOperator;
  readonly attribute: Attribute;
}

/** Parses an operand. @throws Failure `query_value_invalid`, which says what to send. */
type OperandReader<Operand> = (raw: RawOperand) => Operand;

const text = reader('text, for example "Ann"', (value) =>
  typeof value === "string" ? normalizeText(value) : undefined,
);
// Every text contains the empty text: it would match all contacts.
const part = reader('text that is not empty, for example "Ann"', (value) =>
  typeof value === "string" && value !== "" ? normalizeText(value) : undefined,
);
const tag = reader('a tag, for example "vip"', (value) =>
  typeof value === "string" && value.trim() !== "" ? normalizeText(value.trim()) : undefined,
);
const number = reader("a number, for example 42", (value) => (isNumber(value) ? value : undefined));
const flag = reader("true or false", (value) => (typeof value === "boolean" ? value : undefined));
const time = reader("a time with its UTC offset, for example 2026-03-01T09:00:00+02:00", readTimestamp);
const span = reader('a duration in minutes, hours or days, for example "30m", "24h" or "7d"', readDuration);
const measure = reader<number | Date>(
  "a number, for example 42, or a time with its UTC offset, for example 2026-03-01T09:00:00+02:00",
  (value) => (isNumber(value) ? value : readTimestamp(value)),
);
const scalar = reader<Value>(
  "text, a number, true or false (exists and not_exists take no value)",
  (value) => {
    if (typeof value === "string") {
      return normalizeText(value);
    }
    return isNumber(value) || typeof value === "boolean" ? value : undefined;
  },
);

/** The reader for each attribute type and operator family. A missing family does not apply to the type. */
const readers: Record<ValueType, { readonly [Family in keyof Operands]?: OperandReader<Operands[Family]> }> =
  {
    text: { equality: text, membership: listOf(text), part, edge: part, presence },
    number: { equality: number, membership: listOf(number), order: number, range: rangeOf(number), presence },
    date: {
      equality: time,
      membership: listOf(time),
      order: time,
      range: rangeOf(time),
      time,
      span,
      presence,
    },
    boolean: { equality: flag, membership: listOf(flag), presence },
    enum: { equality: readChoice, membership: listOf(readChoice), presence },
    tags: { part: tag, membership: listOf(tag), set: listOf(tag), presence },
    any: {
      equality: scalar,
      membership: listOf(scalar),
      part,
      edge: part,
      order: measure,
      range: rangeOf(measure),
      time,
      span,
      presence,
    },
  };

/** The operators that apply to an attribute of this type. */
export function operatorsOf(type: ValueType): readonly QueryOperator[] {
  return queryOperators.filter((operator) => readers[type][operatorFamilies[operator]] !== undefined);
}

/** What to send as the value of an operator, in words or as an example. */
export function exampleOf(type: ValueType, operator: QueryOperator): string {
  const family = operatorFamilies[operator];
  const one = examples[type];
  const all: { readonly [Family in keyof Operands]: string } = {
    equality: one,
    membership: `[${one}]`,
    part: one.startsWith('"') ? one : '"berlin"',
    edge: '"ber"',
    order: type === "any" ? "42 or a time like that of before" : one,
    range: type === "any" ? "[1, 42], or two times" : `[${one}, "2026-03-31T00:00:00Z"]`,
    time: examples.date,
    span: '"30d"; or h, m',
    set: `[${one}]`,
    presence: "none",
  };
  return all[family];
}

const examples: Record<ValueType, string> = {
  text: '"ann"',
  number: "42",
  date: '"2026-03-01T00:00:00Z"',
  boolean: "true",
  enum: "one of its values",
  tags: '"vip"',
  any: '"berlin"',
};

/**
 * Parses the operand of the condition at `path`.
 * @throws Failure `operator_not_applicable` or `query_value_invalid`, naming the place.
 */
export function readOperand(raw: RawOperand, path: string): Operands[keyof Operands] {
  const { attribute, operator, name } = raw;
  const read = readers[attribute.type][operatorFamilies[operator]];
  if (!read) {
    throw failField(`${path}.operator`, "operator_not_applicable", {
      operator,
      attribute: name,
      attribute_type: attribute.type,
      known: operatorsOf(attribute.type).join(", "),
    });
  }
  return read(raw);
}

function reader<Operand>(
  expected: string,
  read: (value: unknown) => Operand | undefined,
): OperandReader<Operand> {
  return (raw) => {
    const operand = read(raw.value);
    if (operand === undefined) {
      throw invalidValue(raw, expected);
    }
    return operand;
  };
}

function presence(raw: RawOperand): undefined {
  // Clients that must fill every field send null or true.
  if (raw.value !== undefined && raw.value !== null && raw.value !== true) {
    throw invalidValue(raw, "no value: leave it out");
  }
}

function readChoice(raw: RawOperand): string {
  const { value, attribute } = raw;
  const { values, expected = `one of: ${values.join(", ")}` } =
    attribute.type === "enum" ? attribute : { values: [] };
  const choice = typeof value === "string" ? normalizeText(value) : undefined;
  // Names of this service are normalized to lower case.
  if (choice === undefined || !values.some((known) => known.toLowerCase() === choice)) {
    throw invalidValue(raw, expected);
  }
  return choice;
}

function listOf<Operand>(read: OperandReader<Operand>): OperandReader<readonly Operand[]> {
  return (raw) => {
    const { value, path } = raw;
    if (!Array.isArray(value) || value.length === 0) {
      throw invalidValue(raw, "a list that is not empty");
    }
    return value.map((element, index) => read({ ...raw, value: element, path: `${path}[${index}]` }));
  };
}

function rangeOf(read: OperandReader<number | Date>): OperandReader<Operands["range"]> {
  return (raw) => {
    const { value, path } = raw;
    if (!Array.isArray(value) || value.length !== 2) {
      throw invalidValue(raw, "a list of two values, the smaller first");
    }
    const low = read({ ...raw, value: value[0], path: `${path}[0]` });
    const high = read({ ...raw, value: value[1], path: `${path}[1]` });
    if (typeof low !== typeof high || low > high) {
      throw invalidValue(raw, "two values of the same type, the smaller first");
    }
    return [low, high];
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function invalidValue({ path, operator, name }: RawOperand, expected: string): Failure {
  return failField(path, "query_value_invalid", { operator, attribute: name, expected });
}
