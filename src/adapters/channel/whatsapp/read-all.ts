/** Reads lists of the API, in which Meta may put new kinds of members. */
import type { z } from "zod";

/** The members of a list that can be read. */
export function readAll<Schema extends z.ZodType>(schema: Schema, list: unknown): z.output<Schema>[] {
  return (Array.isArray(list) ? list : []).flatMap((one) => {
    const { success, data } = schema.safeParse(one);
    return success ? [data] : [];
  });
}
