/** The shapes of responses: one object, a whole list, one page of a list. */
import { z } from "zod";
import { page, pageSize } from "./fields.ts";

/** A response with one object. */
export function one<Data extends z.ZodType>(data: Data) {
  return z.object({ data });
}

/** A response with a whole list. */
export function all<Data extends z.ZodType>(data: Data) {
  return z.object({ data: z.array(data), meta: z.object({ total: z.int() }) });
}

/** A response with one page of a list. */
export function paged<Data extends z.ZodType>(data: Data) {
  return z.object({
    data: z.array(data),
    meta: z.object({
      page: z.int(),
      per_page: z.int(),
      total: z.int(),
      /** Present only where the list is too long to be counted for each page. */
      total_is_estimate: z.literal(true).optional(),
    }),
  });
}

/** The input fields of a paged list; `size` is the default page size. */
export function paging(size: number) {
  return { page, per_page: pageSize(size) };
}
