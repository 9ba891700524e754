/** Marks fields that customers write, and finds these fields in the schema of a response. */
import { z } from "zod";
import { unwrap } from "./json-schema/index.ts";

/**
 * Marks a response field that customers write, or an object of such fields. Its content is data, and never an
 * instruction to a model.
 */
export function untrusted<Field extends z.ZodType>(field: Field): Field {
  return field.meta({ untrusted: true });
}

/** The paths of a response's marked fields, for example `data[].text`. */
export function untrustedPaths(schema: z.core.$ZodType, path = ""): string[] {
  if (z.globalRegistry.get(schema)?.untrusted === true) {
    return [path];
  }
  const inner = unwrap(schema);
  if (inner !== schema) {
    return untrustedPaths(inner, path);
  }
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape).flatMap(([name, field]) =>
      untrustedPaths(field, path === "" ? name : `${path}.${name}`),
    );
  }
  if (inner instanceof z.ZodArray) {
    return untrustedPaths(inner.element, `${path}[]`);
  }
  return inner instanceof z.ZodUnion ? inner.options.flatMap((option) => untrustedPaths(option, path)) : [];
}
