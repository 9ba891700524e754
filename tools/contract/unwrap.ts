/** Finds the schema inside optional, default and nullable ones. */
import { z } from "zod";

export function unwrap(field: z.core.$ZodType): z.core.$ZodType {
  const isWrapper =
    field instanceof z.ZodOptional || field instanceof z.ZodDefault || field instanceof z.ZodNullable;
  return isWrapper ? unwrap(field.unwrap()) : field;
}
