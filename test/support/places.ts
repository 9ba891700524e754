/** Finds the places of an input's schema that hold many values, and makes inputs of a size from schemas. */
import type { JsonSchema } from "../../tools/contract/index.ts";

/** Names of members, and 0 for an element of a list. */
export type Path = readonly (string | 0)[];

export interface Place {
  readonly path: Path;
  readonly schema: JsonSchema;
}

/** Every schema inside a schema, with its path. */
export function* placesOf(schema: JsonSchema, path: Path = []): Generator<Place> {
  yield { path, schema };
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    yield* placesOf(property, [...path, name]);
  }
  if (isSchema(schema.items)) {
    yield* placesOf(schema.items, [...path, 0]);
  }
  for (const option of Array.isArray(schema.anyOf) ? schema.anyOf.filter(isSchema) : []) {
    yield* placesOf(option, path);
  }
}

/** Whether it is an object with members of any name. */
export function isOpenObject({ type, additionalProperties }: JsonSchema): boolean {
  return type === "object" && isSchema(additionalProperties);
}

/** An input with this value at a path, and nothing else. */
export function nest([step, ...rest]: Path, value: unknown): unknown {
  if (step === undefined) {
    return value;
  }
  return step === 0 ? [nest(rest, value)] : { [step]: nest(rest, value) };
}

/** The largest value that a schema accepts, as far as it says so, of about `budget` characters. */
export function largest(schema: JsonSchema, budget: number): unknown {
  const { type, anyOf, maxItems, items, maximum } = schema;
  if (Array.isArray(schema.enum)) {
    return schema.enum[0];
  }
  if (Array.isArray(anyOf)) {
    return largest(anyOf.filter(isSchema)[0] ?? {}, budget);
  }
  if (type === "string") {
    return largestText(schema, budget);
  }
  if (type === "array") {
    const count = Number(maxItems);
    return Array.from({ length: count }, () => largest(isSchema(items) ? items : {}, budget / count));
  }
  if (isOpenObject(schema)) {
    return members(Math.min(1_000, budget / 16));
  }
  const properties = Object.entries(propertiesOf(schema));
  return type === "object"
    ? Object.fromEntries(
        properties.map(([name, property]) => [name, largest(property, budget / properties.length)]),
      )
    : type === "boolean" || (maximum ?? 1);
}

/** `count` members with short values. */
export function members(count: number): Readonly<Record<string, number>> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
}

/** Base64 has a length that is a multiple of four, and no letter means anything in it. */
function largestText({ format, pattern, maxLength }: JsonSchema, budget: number): string {
  const length = Math.min(Number(maxLength), Math.floor(budget / 4) * 4);
  const start = { uri: "https://a.example/", email: "a@a.example" }[String(format)] ?? "";
  if (format === "date-time") {
    return "2030-01-01T00:00:00Z";
  }
  const prefix = typeof pattern === "string" && pattern.includes("\\/") ? "a/" : start;
  return format === "email" ? prefix : prefix.padEnd(length, "A");
}

function propertiesOf({ properties }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return isSchema(properties) ? (properties as Readonly<Record<string, JsonSchema>>) : {}; // by JSON Schema
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null;
}
