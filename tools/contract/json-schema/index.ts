/** Converts Zod schemas to JSON Schema that every client accepts. */
import { z } from "zod";
import { type JsonSchema, removeMarks, simplify, toPlain } from "./simplify.ts";
import { toToolForm } from "./tool-form.ts";

export { type ApiSchema, nameKeyword, toNamedJsonSchema } from "./named-form.ts";
export type { JsonSchema } from "./simplify.ts";

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
      simplify(jsonSchema, zodSchema);
      if (use === "output") {
        delete jsonSchema.additionalProperties;
      } else if (zodSchema._zod.def.type === "object") {
        jsonSchema.additionalProperties = false;
      }
      if (use === "tool" && typeof jsonSchema.toolDescription === "string") {
        jsonSchema.description = jsonSchema.toolDescription;
      }
      removeMarks(jsonSchema);
    },
  });
  const plain = toPlain(json);
  return use === "tool" ? toToolForm(plain) : plain;
}

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
