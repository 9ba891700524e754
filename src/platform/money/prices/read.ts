/** Reads the prices of an organization's messages. */
import { otherCountries, priceCategories } from "../../../../tools/prices.ts";
import type { Queries } from "../../../database/database.ts";
import { columnOf, columnsOf, nullable, onlyRow, rowsOf } from "../../../database/query/index.ts";
import { bundledTables } from "./bundled.ts";
import { type RateTable, ratesOf } from "./rate-table.ts";

/** What messages of an organization cost. */
export interface Rates {
  /** The organization's currency. */
  readonly currency: string;
  /**
   * The rows of the requested countries that have one, and the row for `otherCountries`. Null: messages in
   * this currency have no price.
   */
  readonly table: RateTable | null;
}

/**
 * The rates for recipients in these countries, by one statement, however many countries there are. The
 * operator's table for the organization's currency replaces the bundled table as soon as it is committed.
 */
export async function readRates(
  db: Queries,
  organization: string,
  countries: readonly (string | null)[],
): Promise<Rates> {
  const keys = [...new Set([...countries.filter((country) => country !== null), otherCountries])];
  const { rows } = await rowsOf(rateColumns)`
    select organizations.currency, country, marketing, utility, authentication, service
    from organizations
      left join message_rates on message_rates.currency = organizations.currency and country = any(${keys})
    where organizations.id = ${organization}
  `.execute(db);
  const { currency } = onlyRow(rows);
  // Each table of the operator has a row for `otherCountries`, so without any row there is no such table.
  const own = rows.flatMap(({ currency: _, country, ...rates }) =>
    country === null ? [] : [[country, rates] as const],
  );
  return { currency, table: own.length > 0 ? new Map(own) : (bundledTables.get(currency)?.table ?? null) };
}

/** If the operator has no row, all columns except the currency are null. */
const rateColumns = {
  ...columnsOf("organizations", "currency"),
  country: nullable(columnOf("message_rates", "country")),
  ...columnsOf("message_rates", "marketing", "utility", "authentication", "service"),
};

/**
 * The price of one message in millionths of the currency. Null if there is no table, or the category has no
 * price.
 */
export function priceOf({ table }: Rates, country: string | null, category: string): number | null {
  const known = priceCategories.find((name) => name === category);
  return (known && table && ratesOf(table, country)?.[known]) ?? null;
}
