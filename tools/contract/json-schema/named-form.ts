/** The form of a schema for generators of clients: the names of schemas, and the values of every map. */
import { z } from "zod";
import { type JsonSchema, removeMarks, simplify, toPlain } from "./simplify.ts";

/** The keyword that has the name of a schema, at every place where the schema is used. */
export const nameKeyword = "x-name";

/** What can be converted. */
export type ApiSchema = z.ZodType;

/**
 * Converts a schema, and marks the parts for which `nameOf` returns a name. Input is closed; output is open,
 * so that a field added later does not break a client that validates.
 */
export function toNamedJsonSchema(
  schema: ApiSchema,
  io: "input" | "output",
  nameOf: (schema: z.core.$ZodType) => string | undefined,
): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    reused: "inline",
    unrepresentable: "any",
    override({ jsonSchema, zodSchema }) {
      const { def } = zodSchema._zod;
      if (def.type === "record") {
        listMembers(jsonSchema);
      } else if (def.type === "object" && isClosed(jsonSchema)) {
        delete jsonSchema.additionalProperties;
        Object.assign(jsonSchema, io === "input" ? { additionalProperties: false } : {});
      }
      simplify(jsonSchema, zodSchema);
      removeMarks(jsonSchema);
      const name = nameOf(zodSchema);
      Object.assign(jsonSchema, name === undefined ? {} : { [nameKeyword]: name });
    },
  });
  return toPlain(json);
}

/** An object whose other members are not stated: of a loose object, they have a schema. */
function isClosed({ additionalProperties }: z.core.JSONSchema.BaseSchema): boolean {
  return typeof additionalProperties !== "object";
}

/** A map whose names are an enum lists them: generators read `properties`, but no `propertyNames`. */
function listMembers(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  const { propertyNames, additionalProperties: value } = jsonSchema;
  const names = typeof propertyNames === "object" ? propertyNames.enum : undefined;
  if (names && typeof value === "object") {
    jsonSchema.properties = Object.fromEntries(names.map((name) => [String(name), value]));
    delete jsonSchema.additionalProperties;
  }
}
