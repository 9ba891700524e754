/** One page of a list, and how long the list is. */
import { type SelectQueryBuilder, sql } from "kysely";
import type { Tables } from "../schema/index.ts";

/**
 * Up to here a total is counted: some 15 ms on an index. Beyond it is the planner's estimate, said so by
 * `total_is_estimate`; counting a million rows for each page would cost more than all else that a list does.
 */
const countedUpTo = 100_000;

/** Up to here the matches of a search are counted: each must be looked at, wherever it lies. */
export const matchesCountedUpTo = 1_000;

/** Reads a page of what `found` selects, in its order; `meta` is as every paged answer has it. */
export async function readPage<From extends keyof Tables, Row>(
  found: SelectQueryBuilder<Tables, From, Row>,
  { page, per_page }: { page: number; per_page: number },
  mostCounted = countedUpTo,
) {
  const rows = await found
    .limit(per_page)
    .offset((page - 1) * per_page)
    .execute();
  return { rows, meta: { page, per_page, ...(await countRows(found, mostCounted)) } };
}

async function countRows<From extends keyof Tables, Row>(
  found: SelectQueryBuilder<Tables, From, Row>,
  mostCounted: number,
) {
  const bare = found.clearSelect().clearOrderBy();
  const some = bare.select(sql`1`.as("one")).limit(mostCounted + 1);
  // A scalar of a query that yields one row, or none where there is nothing to count.
  const counted = await bare
    .select(sql<number>`(select count(*) from ${some.as("counted")})`.as("total"))
    .limit(1)
    .executeTakeFirst();
  const total = counted?.total ?? 0;
  if (total <= mostCounted) {
    return { total };
  }
  const [plan] = await bare.select(sql`1`.as("one")).explain<Plan>("json");
  const estimate = plan?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? 0;
  return { total: Math.max(total, Math.round(estimate)), total_is_estimate: true as const };
}

/** The part of PostgreSQL's `explain (format json)` that is read. */
interface Plan {
  readonly "QUERY PLAN": readonly { readonly Plan: { readonly "Plan Rows": number } }[];
}
