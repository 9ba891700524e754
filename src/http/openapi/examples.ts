/** Makes examples of requests and responses: from descriptions, from names of fields, and from types. */
import type { JsonSchema } from "../../../tools/contract/index.ts";
import { exampleOfThing, exampleValues, findThing } from "./example-values.ts";

export interface ExampleContext {
  /** The components that the schemas refer to. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** The tag of the operation, or the field whose object it is. */
  readonly owner: string;
}

/** A body with an example: the given one, or one made from the schema. */
export function withExample(schema: JsonSchema, context: ExampleContext, example?: unknown): JsonSchema {
  return { schema, example: example ?? makeExample(schema, context) };
}

/**
 * A value that the schema accepts, with the required members of objects. `field` is the name of the field
 * that has the value.
 */
export function makeExample(schema: JsonSchema, context: ExampleContext, field = ""): unknown {
  const { $ref: reference, anyOf: options } = schema;
  if (typeof reference === "string") {
    const name = reference.split("/").at(-1) ?? "";
    return makeExample(context.schemas[name] ?? {}, context, field);
  }
  const isNullable = Array.isArray(options) && options.some(({ type }) => type === "null");
  const owner = findThing(context.owner) ?? "";
  const known = [
    exampleInDescription(schema.description),
    exampleOfThing(field, owner),
    exampleValues[field],
  ];
  const plain = isNullable ? withoutNull(schema, options) : schema;
  const fitting = known.find((value) => fits(value, plain));
  if (fitting !== undefined) {
    return fitting;
  }
  return isNullable ? null : (byType[String(plain.type)] ?? byOption)(plain, context, field);
}

function withoutNull({ anyOf: _, ...rest }: JsonSchema, options: readonly JsonSchema[]): JsonSchema {
  const [first = {}] = options.filter(({ type }) => type !== "null");
  return { ...rest, ...first };
}

/** `With country code, like +14155550123` → `+14155550123`; JSON is parsed. */
function exampleInDescription(description: unknown): unknown {
  const text = /\b(?:for example|like) (\{.*\}|\S+?)(?=[,;.]?(?:\s|$))/i.exec(String(description ?? ""))?.[1];
  if (text?.startsWith("{")) {
    return parseObject(text);
  }
  return text;
}

/** Undefined for a form such as `{"status", "body"}`, which is no JSON. */
function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a known value is one of the schema's: its type, and what texts have besides. */
function fits(
  value: unknown,
  { type, enum: values, pattern, format, maxLength, minimum }: JsonSchema,
): boolean {
  if (value === undefined || Array.isArray(values) || format === "date-time") {
    return false;
  }
  if (typeof value === "string") {
    const isShort = value.length <= Number(maxLength ?? Number.POSITIVE_INFINITY);
    return type === "string" && isShort && (pattern === undefined || new RegExp(String(pattern)).test(value));
  }
  if (typeof value === "number") {
    return (type === "number" || type === "integer") && value >= Number(minimum ?? value);
  }
  return type === (Array.isArray(value) ? "array" : "object");
}

type Make = (schema: JsonSchema, context: ExampleContext, field: string) => unknown;

const byOption: Make = ({ anyOf: options }, context, field) =>
  Array.isArray(options) ? makeExample(options[0], context, field) : "text";

const byType: Readonly<Record<string, Make>> = {
  object({ properties = {}, required = [] }, { schemas, owner }, field) {
    const context = { schemas, owner: findThing(field) === undefined ? owner : field };
    const members = Object.entries(properties as Readonly<Record<string, JsonSchema>>); // by JSON Schema
    const wanted = members.filter(([name]) => (required as readonly string[]).includes(name)); // likewise
    return Object.fromEntries(wanted.map(([name, schema]) => [name, makeExample(schema, context, name)]));
  },
  // Warnings are rare. A list has one schema for its items.
  array: ({ items = {} }, context, field) =>
    /^(?:warnings|errors)$/.test(field)
      ? []
      : [makeExample(items as JsonSchema, context, field.replace(/s$/, ""))],
  string: ({ enum: values, format }) =>
    Array.isArray(values) ? values[0] : (byFormat[String(format)] ?? "text"),
  integer: ({ minimum = 0 }) => minimum,
  number: ({ minimum = 0 }) => minimum,
  boolean: ({ enum: values }) => (Array.isArray(values) ? values[0] : false),
};

const byFormat: Readonly<Record<string, string>> = {
  "date-time": "2026-11-21T15:43:45.129Z",
  uri: "https://example.com/menu.pdf",
  email: "ada@example.com",
};
