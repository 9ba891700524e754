/** What all forms of a JSON Schema have in common: keywords that every client reads, and no others. */
import type { z } from "zod";

/** A schema as nested objects, each with its own members. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Changes a part of the result of Zod's conversion. */
export function simplify(jsonSchema: z.core.JSONSchema.BaseSchema, { _zod }: z.core.$ZodType): void {
  if (jsonSchema.format !== undefined) {
    delete jsonSchema.pattern;
  }
  if (Number(jsonSchema.maximum) >= maxInt32) {
    delete jsonSchema.maximum;
  }
  if (Number(jsonSchema.minimum) <= minInt32) {
    delete jsonSchema.minimum;
  }
  if (_zod.def.type === "record") {
    delete jsonSchema.propertyNames;
  }
  if (jsonSchema.const !== undefined) {
    jsonSchema.enum = [jsonSchema.const];
    delete jsonSchema.const;
  }
}

/** Removes our own marks, which are no keywords of JSON Schema. */
export function removeMarks(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  delete jsonSchema.toolDescription;
  delete jsonSchema.untrusted;
}

/** The result of Zod's conversion without objects that occur twice. */
export function toPlain(json: object): JsonSchema {
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
