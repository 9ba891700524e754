/** The named schemas of the document: each stands once in `components`, and is referred to by its name. */
import {
  type ApiSchema,
  type JsonSchema,
  nameKeyword,
  toNamedJsonSchema,
} from "../../../tools/contract/index.ts";
import { schemas } from "../../../tools/schemas.ts";

export interface Components {
  /** Converts a schema; the parts that have a name become references. */
  read(schema: ApiSchema, io: "input" | "output"): JsonSchema;
  /** Stores a schema under a name. @returns the reference to it. */
  name(wanted: string, schema: JsonSchema): JsonSchema;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

const names = new Map<unknown, string>(Object.entries(schemas).map(([name, schema]) => [schema, name]));

export function createComponents(): Components {
  const stored: Record<string, JsonSchema> = {};

  /** The input form of a schema that output also has is another schema, so it has another name. */
  function name(wanted: string, schema: JsonSchema): JsonSchema {
    const held = stored[wanted];
    if (held && JSON.stringify(held) !== JSON.stringify(schema)) {
      return name(`${wanted}Input`, schema);
    }
    stored[wanted] = schema;
    return { $ref: `#/components/schemas/${wanted}` };
  }

  /** Replaces named schemas, the inner ones first. */
  function replaceNamed(schema: unknown): unknown {
    if (!isObject(schema)) {
      return schema;
    }
    if (!isTyped(schema)) {
      return { ...schema, ...name("AnyValue", { description: "Any JSON value." }) };
    }
    const { anyOf: options } = schema;
    if (Array.isArray(options) && options.every(isText)) {
      const { anyOf: _, ...rest } = schema;
      return { type: "string", ...rest };
    }
    const parts = Object.entries(schema).map(([keyword, value]) => [keyword, replacePart(keyword, value)]);
    const { [nameKeyword]: wanted, ...whole } = Object.fromEntries(parts);
    if (wanted === undefined) {
      return whole;
    }
    // What the place says of the schema stands beside the reference.
    const { description, default: initial, ...rest } = whole;
    return withoutUndefined({ ...name(wanted, rest), description, default: initial });
  }

  function replacePart(keyword: string, value: unknown): unknown {
    if (keyword === "properties" && isObject(value)) {
      const members = Object.entries(value).map(([member, schema]) => [member, replaceNamed(schema)]);
      return Object.fromEntries(members);
    }
    if (keyword === "additionalProperties" && isObject(value) && !isTyped(value)) {
      return true;
    }
    const isSchema = ["items", "additionalProperties", "anyOf", "oneOf", "allOf"].includes(keyword);
    return isSchema ? (Array.isArray(value) ? value.map(replaceNamed) : replaceNamed(value)) : value;
  }

  return {
    schemas: stored,
    name,
    read(schema, io) {
      const converted = toNamedJsonSchema(schema, io, (part) => names.get(part));
      return replaceNamed(converted) as JsonSchema; // of an object
    },
  };
}

/** Several forms of a text are one type to a client. */
function isText({ type, enum: values }: JsonSchema): boolean {
  return type === "string" && values === undefined;
}

function isTyped(schema: JsonSchema): boolean {
  return ["type", "anyOf", "oneOf", "allOf", "enum"].some((keyword) => keyword in schema);
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withoutUndefined(members: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
