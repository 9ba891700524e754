/** One page of a list, and how long the list is. */
import type { SelectQueryBuilder } from "kysely";
import type { Tables } from "../../database/schema.ts";

/** Reads a page of what `found` selects, in its order; `meta` is as every paged answer has it. */
export async function readPage<From extends keyof Tables, Row>(
  found: SelectQueryBuilder<Tables, From, Row>,
  { page, per_page }: { page: number; per_page: number },
) {
  const rows = await found
    .limit(per_page)
    .offset((page - 1) * per_page)
    .execute();
  const { total } = await found
    .clearSelect()
    .clearOrderBy()
    .select((count) => count.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return { rows, meta: { page, per_page, total } };
}
