/** Converts Zod schemas to JSON Schema that every client accepts. */
import { z } from "zod";

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Converts a Zod schema: an object at the root, no `$ref`, no `$schema`, no long patterns. Input is closed at
 * every depth. Output is open, so that a field added later does not break a client that validates. `tool` is
 * the input without the parts that a model does not need.
 */
export function toJsonSchema(schema: z.ZodType, use: "input" | "output" | "tool"): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: use === "output" ? "output" : "input",
    reused: "inline",
    unrepresentable: "any",
    override({ jsonSchema, zodSchema }) {
      if (jsonSchema.format !== undefined) {
        delete jsonSchema.pattern;
      }
      if (Number(jsonSchema.maximum) >= maxInt32) {
        delete jsonSchema.maximum;
      }
      if (Number(jsonSchema.minimum) <= minInt32) {
        delete jsonSchema.minimum;
      }
      if (zodSchema._zod.def.type === "record") {
        delete jsonSchema.propertyNames;
      }
      if (jsonSchema.const !== undefined) {
        jsonSchema.enum = [jsonSchema.const];
        delete jsonSchema.const;
      }
      if (use === "output") {
        delete jsonSchema.additionalProperties;
      } else if (zodSchema._zod.def.type === "object") {
        jsonSchema.additionalProperties = false;
      }
      if (use === "tool") {
        trimSchema(jsonSchema);
      }
      delete jsonSchema.untrusted; // our own mark, not a keyword of JSON Schema
    },
  });
  return JSON.parse(JSON.stringify(json), (_, value: unknown) => splitTypes(value));
}

/**
 * Writes a list of types, as Zod generates for a bare nullable type, as a union: some clients can't read a
 * list.
 */
function splitTypes(schema: unknown): unknown {
  const { type: types, ...rest } = Object(schema) as JsonSchema;
  return Array.isArray(types) ? { anyOf: types.map((type) => ({ type })), ...rest } : schema;
}

/** Bounds this wide only repeat the number's type. */
const maxInt32 = 2 ** 31 - 1;
const minInt32 = -(2 ** 31);

/**
 * These limits are still validated, and named in the error. A limit that callers often exceed belongs in the
 * description.
 */
const omittedKeywords = [
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "pattern",
  "exclusiveMinimum",
] as const;

/**
 * Removes the parts that a model does not need to call the tool: every listed tool costs tokens on every
 * turn.
 */
function trimSchema(schema: z.core.JSONSchema.BaseSchema): void {
  for (const keyword of omittedKeywords) {
    delete schema[keyword];
  }
  if (isEmpty(schema.default)) {
    delete schema.default;
  }
  if (isEmpty(schema.additionalProperties)) {
    delete schema.additionalProperties;
  }
  const [value, other, ...rest] = schema.anyOf ?? [];
  const isNullable = typeof other === "object" && other.type === "null" && rest.length === 0;
  if (typeof value === "object" && isNullable) {
    delete schema.anyOf;
    Object.assign(schema, { ...value, ...schema });
  }
}

/** Whether a keyword is expected anyway: an empty default, or an empty schema, which allows everything. */
function isEmpty(value: unknown): boolean {
  return (
    value === "" ||
    value === 0 ||
    (typeof value === "object" && value !== null && Object.keys(value).length === 0)
  );
}

/** The schema inside optional, default and nullable schemas, and behind a preprocessing step. */
export function unwrap(field: z.core.$ZodType): z.core.$ZodType {
  if (field instanceof z.ZodPreprocess) {
    return unwrap(field.out);
  }
  const isWrapper =
    field instanceof z.ZodOptional || field instanceof z.ZodDefault || field instanceof z.ZodNullable;
  return isWrapper ? unwrap(field.unwrap()) : field;
}
