/** Reads one page of a list, and its total. */
import { type SelectQueryBuilder, sql } from "kysely";
import type { Tables } from "../schema/index.ts";

/**
 * Totals up to this number are counted, in about 15 ms on an index. A larger total is the planner's estimate,
 * marked by `total_is_estimate`: counting a million rows for each page would cost more than the rest of the
 * request.
 */
const maxCountedRows = 100_000;

/** Skipping this many rows makes a page a slow read. */
const deepOffset = 5_000;

/** Whether the page is so deep that reading it skips many rows. */
export function isDeepPage({
  page,
  per_page,
}: {
  readonly page: number;
  readonly per_page: number;
}): boolean {
  return (page - 1) * per_page > deepOffset;
}

/** Reads a page of the query in its order. `meta` has the form that every paged response has. */
export async function readPage<From extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, From, Row>,
  { page, per_page }: { page: number; per_page: number },
) {
  const rows = await query
    .limit(per_page)
    .offset((page - 1) * per_page)
    .execute();
  return { rows, meta: { page, per_page, ...(await countRows(query)) } };
}

/** The planner's estimate of the number of rows, but at least `found`. */
export async function estimateTotal<From extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, From, Row>,
  found: number,
) {
  const [plan] = await query.clearSelect().clearOrderBy().select(sql`1`.as("one")).explain<Plan>("json");
  const estimate = plan?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? 0;
  return { total: Math.max(found, Math.round(estimate)), total_is_estimate: true as const };
}

async function countRows<From extends keyof Tables, Row>(query: SelectQueryBuilder<Tables, From, Row>) {
  const matches = query.clearSelect().clearOrderBy();
  const limited = matches.select(sql`1`.as("one")).limit(maxCountedRows + 1);
  // A scalar subquery, so that the outer query yields one row, or none if there is no match.
  const counted = await matches
    .select(sql<number>`(select count(*) from ${limited.as("counted")})`.as("total"))
    .limit(1)
    .executeTakeFirst();
  const total = counted?.total ?? 0;
  return total <= maxCountedRows ? { total } : estimateTotal(query, total);
}

/** The part of PostgreSQL's `explain (format json)` that is used. */
interface Plan {
  readonly "QUERY PLAN": readonly { readonly Plan: { readonly "Plan Rows": number } }[];
}
