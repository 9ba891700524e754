/** Converts Zod schemas to JSON Schema that every client accepts. */
import { z } from "zod";
import { type JsonSchema, toToolForm } from "./tool-form.ts";

export type { JsonSchema } from "./tool-form.ts";

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
      if (use === "tool" && typeof jsonSchema.toolDescription === "string") {
        jsonSchema.description = jsonSchema.toolDescription;
      }
      // Our own marks, no keywords of JSON Schema.
      delete jsonSchema.toolDescription;
      delete jsonSchema.untrusted;
    },
  });
  const plain: JsonSchema = JSON.parse(JSON.stringify(json), (_, value: unknown) => splitTypes(value));
  return use === "tool" ? toToolForm(plain) : plain;
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

/** The schema inside optional, default and nullable ones, and behind a preprocessing step. */
export function unwrap(field: z.core.$ZodType): z.core.$ZodType {
  if (field instanceof z.ZodPreprocess) {
    return unwrap(field.out);
  }
  return isWrapper(field) ? unwrap(field.unwrap()) : field;
}

/** Whether null is a value of the field. */
export function isNullable(field: z.core.$ZodType): boolean {
  return field instanceof z.ZodNullable || (isWrapper(field) && isNullable(field.unwrap()));
}

function isWrapper(field: z.core.$ZodType): field is z.ZodOptional | z.ZodDefault | z.ZodNullable {
  return field instanceof z.ZodOptional || field instanceof z.ZodDefault || field instanceof z.ZodNullable;
}
