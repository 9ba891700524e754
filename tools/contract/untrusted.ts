/** Finds fields in the schema of a response: those that customers write, and those that hold any JSON. */
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
export function untrustedPaths(schema: z.core.$ZodType): string[] {
  return findPaths(schema, (field) => z.globalRegistry.get(field)?.untrusted === true);
}

/** The paths of a response's fields whose members the schema does not name, for example `data.metadata`. */
export function openPaths(schema: z.core.$ZodType): string[] {
  return findPaths(schema, isOpen);
}

/** Without the fields within a field that was found. */
function findPaths(
  schema: z.core.$ZodType,
  isWanted: (field: z.core.$ZodType) => boolean,
  path = "",
): string[] {
  if (isWanted(schema)) {
    return [path];
  }
  const inner = unwrap(schema);
  if (inner !== schema) {
    return findPaths(inner, isWanted, path);
  }
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape).flatMap(([name, field]) =>
      findPaths(field, isWanted, path === "" ? name : `${path}.${name}`),
    );
  }
  if (inner instanceof z.ZodArray) {
    return findPaths(inner.element, isWanted, `${path}[]`);
  }
  return inner instanceof z.ZodUnion
    ? inner.options.flatMap((option) => findPaths(option, isWanted, path))
    : [];
}

function isOpen(schema: z.core.$ZodType): boolean {
  const field = unwrap(schema);
  return !(
    field instanceof z.ZodObject ||
    field instanceof z.ZodArray ||
    field instanceof z.ZodUnion ||
    scalars.some((scalar) => field instanceof scalar)
  );
}

const scalars = [
  z.ZodString,
  z.ZodStringFormat,
  z.ZodNumber,
  z.ZodBoolean,
  z.ZodEnum,
  z.ZodLiteral,
  z.ZodNull,
];
