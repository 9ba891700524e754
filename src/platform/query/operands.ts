/** What each type of attribute may be asked, and how the operand of each question is read. */
import { type QueryOperator, queryOperators } from "../../../tools/cohorts.ts";
import type { Failure } from "../../../tools/contract/index.ts";
import { failField } from "../../../tools/errors.ts";
import { type Attribute, families, type Operands, type Value, type ValueType } from "./query.ts";
import { fold, readMoment, readSpan } from "./values.ts";

/** A value as it was sent, and where. */
export interface Given {
  readonly value: unknown;
  readonly path: string;
  readonly name: string;
  readonly operator: QueryOperator;
  readonly attribute: Attribute;
}

/** Reads an operand, or throws the refusal that says what to send. */
type Read<Operand> = (given: Given) => Operand;

const text = reader('text, for example "Ann"', (value) =>
  typeof value === "string" ? fold(value) : undefined,
);
// An empty part is in every text: it would choose everybody.
const part = reader('text that is not empty, for example "Ann"', (value) =>
  typeof value === "string" && value !== "" ? fold(value) : undefined,
);
const tag = reader('a tag, for example "vip"', (value) =>
  typeof value === "string" && value.trim() !== "" ? fold(value.trim()) : undefined,
);
const number = reader("a number, for example 42", (value) => (isNumber(value) ? value : undefined));
const flag = reader("true or false", (value) => (typeof value === "boolean" ? value : undefined));
const moment = reader("a moment with its offset, for example 2026-03-01T09:00:00+02:00", readMoment);
const span = reader('a span of time in minutes, hours or days, for example "30m", "24h" or "7d"', readSpan);
const measure = reader<number | Date>(
  "a number, for example 42, or a moment with its offset, for example 2026-03-01T09:00:00+02:00",
  (value) => (isNumber(value) ? value : readMoment(value)),
);
const scalar = reader<Value>(
  "text, a number, true or false (exists and not_exists ask for nothing)",
  (value) => {
    if (typeof value === "string") {
      return fold(value);
    }
    return isNumber(value) || typeof value === "boolean" ? value : undefined;
  },
);

/** What an attribute of each type may be asked; a family that is missing makes no sense there. */
const readers: Record<ValueType, { readonly [Family in keyof Operands]?: Read<Operands[Family]> }> = {
  text: { equality: text, membership: listOf(text), part, edge: part, presence },
  number: { equality: number, membership: listOf(number), order: number, range: rangeOf(number), presence },
  date: {
    equality: moment,
    membership: listOf(moment),
    order: moment,
    range: rangeOf(moment),
    time: moment,
    span,
    presence,
  },
  boolean: { equality: flag, membership: listOf(flag), presence },
  enum: { equality: choice, membership: listOf(choice), presence },
  tags: { part: tag, membership: listOf(tag), set: listOf(tag), presence },
  any: {
    equality: scalar,
    membership: listOf(scalar),
    part,
    edge: part,
    order: measure,
    range: rangeOf(measure),
    time: moment,
    span,
    presence,
  },
};

/** The operators that an attribute of this type may be asked with. */
export function operatorsOf(type: ValueType): readonly QueryOperator[] {
  return queryOperators.filter((operator) => readers[type][families[operator]] !== undefined);
}

/**
 * The operand of a condition.
 * @throws Failure `operator_not_applicable` or `query_value_invalid`, naming the place.
 */
export function readOperand(given: Given, path: string): Operands[keyof Operands] {
  const { attribute, operator, name } = given;
  const read = readers[attribute.type][families[operator]];
  if (!read) {
    throw failField(`${path}.operator`, "operator_not_applicable", {
      operator,
      attribute: name,
      attribute_type: attribute.type,
      known: operatorsOf(attribute.type).join(", "),
    });
  }
  return read(given);
}

function reader<Operand>(expected: string, read: (value: unknown) => Operand | undefined): Read<Operand> {
  return (given) => {
    const operand = read(given.value);
    if (operand === undefined) {
      throw unfit(given, expected);
    }
    return operand;
  };
}

function presence(given: Given): undefined {
  // Whoever must fill every field sends null or true.
  if (given.value !== undefined && given.value !== null && given.value !== true) {
    throw unfit(given, "no value: leave it out");
  }
}

function choice(given: Given): string {
  const { value, attribute } = given;
  const { values, expected = `one of: ${values.join(", ")}` } =
    attribute.type === "enum" ? attribute : { values: [] };
  const found = typeof value === "string" && values.map(fold).find((one) => one === fold(value));
  if (typeof found !== "string") {
    throw unfit(given, expected);
  }
  return found;
}

function listOf<Operand>(read: Read<Operand>): Read<readonly Operand[]> {
  return (given) => {
    const { value, path } = given;
    if (!Array.isArray(value) || value.length === 0) {
      throw unfit(given, "a list that is not empty");
    }
    return value.map((one, index) => read({ ...given, value: one, path: `${path}[${index}]` }));
  };
}

function rangeOf(read: Read<number | Date>): Read<Operands["range"]> {
  return (given) => {
    const { value, path } = given;
    if (!Array.isArray(value) || value.length !== 2) {
      throw unfit(given, "a list of two, the smaller first");
    }
    const low = read({ ...given, value: value[0], path: `${path}[0]` });
    const high = read({ ...given, value: value[1], path: `${path}[1]` });
    if (typeof low !== typeof high || low > high) {
      throw unfit(given, "two values of one kind, the smaller first");
    }
    return [low, high];
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function unfit({ path, operator, name }: Given, expected: string): Failure {
  return failField(path, "query_value_invalid", { operator, attribute: name, expected });
}
