/** The rate tables as the operator sees them: listed, read, replaced and deleted. */

import { fail } from "../../../../tools/errors.ts";
import { fromMicros, toMicros } from "../../../../tools/money.ts";
import { otherCountries, type Rate } from "../../../../tools/prices.ts";
import type { Queries } from "../../../database/database.ts";
import { insertAll } from "../../../database/query/index.ts";
import { requireCountry } from "../../account/phone/index.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";
import { bundledTables } from "./bundled.ts";
import type { RateTable } from "./rate-table.ts";

export async function listTables(db: Queries) {
  const own = await db
    .selectFrom("message_rate_tables")
    .innerJoin("message_rates", "message_rates.currency", "message_rate_tables.currency")
    .select(({ fn }) => ["message_rate_tables.currency", "effective_from", fn.countAll<number>().as("rows")])
    .groupBy("message_rate_tables.currency")
    .execute();
  const replaced = new Set(own.map(({ currency }) => currency));
  const bundled = [...bundledTables]
    .filter(([currency]) => !replaced.has(currency))
    .map(([currency, { effective_from, table }]) => ({
      currency,
      source: "bundled" as const,
      effective_from,
      rows: table.size,
    }));
  const tables = [...bundled, ...own.map((table) => ({ ...table, source: "operator" as const }))];
  tables.sort((one, other) => (one.currency < other.currency ? -1 : 1));
  return { data: tables, meta: { total: tables.length } };
}

/** @throws Failure `rates_not_found`. */
export async function findTable(db: Queries, currency: string) {
  const rows = await db
    .selectFrom("message_rate_tables")
    .innerJoin("message_rates", "message_rates.currency", "message_rate_tables.currency")
    .select(["effective_from", "country", "marketing", "utility", "authentication", "service"])
    .where("message_rate_tables.currency", "=", currency)
    .execute();
  const [first] = rows;
  if (first) {
    const table = new Map(rows.map(({ country, effective_from: _, ...rates }) => [country, rates]));
    return serialize({ currency, source: "operator", effective_from: first.effective_from, table });
  }
  const bundled = bundledTables.get(currency);
  if (!bundled) {
    throw fail("rates_not_found", { param: "currency" });
  }
  return serialize({ currency, source: "bundled", ...bundled });
}

/** @throws Failure `unknown_country` naming the row. */
export async function replaceTable(
  tx: Transaction,
  {
    currency,
    rates,
    now,
  }: { readonly currency: string; readonly rates: readonly Rate[]; readonly now: Date },
): Promise<void> {
  for (const [index, { country }] of rates.entries()) {
    requireCountry(country === otherCountries ? null : country, `rates[${index}].country`);
  }
  const effective_from = now.toISOString();
  // Locks the table of this currency: requests that arrive together replace it one after the other.
  await tx
    .insertInto("message_rate_tables")
    .values({ currency, effective_from })
    .onConflict((conflict) => conflict.column("currency").doUpdateSet({ effective_from }))
    .execute();
  await tx.deleteFrom("message_rates").where("currency", "=", currency).execute();
  await insertAll(
    tx,
    "message_rates",
    rates.map(({ country, marketing, utility, authentication, service = utility }) => ({
      currency,
      country,
      marketing: toMicros(marketing),
      utility: toMicros(utility),
      authentication: toMicros(authentication),
      service: toMicros(service),
    })),
  );
}

/** @throws Failure `rates_not_replaced`. */
export async function deleteTable(tx: Transaction, currency: string): Promise<void> {
  const { numDeletedRows } = await tx
    .deleteFrom("message_rate_tables")
    .where("currency", "=", currency)
    .executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) {
    throw fail("rates_not_replaced", { param: "currency" });
  }
}

interface WholeTable {
  readonly currency: string;
  readonly source: "bundled" | "operator";
  readonly effective_from: string;
  readonly table: RateTable;
}

/** By country, the row for the others last. */
function serialize({ table, ...described }: WholeTable) {
  const rates = [...table].sort(([one], [other]) => (sortKey(one) < sortKey(other) ? -1 : 1));
  return {
    ...described,
    rows: table.size,
    rates: rates.map(([country, { marketing, utility, authentication, service }]) => ({
      country,
      marketing: fromMicros(marketing),
      utility: fromMicros(utility),
      authentication: fromMicros(authentication),
      service: fromMicros(service),
    })),
  };
}

function sortKey(country: string): string {
  return country === otherCountries ? "~" : country;
}
