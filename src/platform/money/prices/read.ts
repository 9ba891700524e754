/** Reads the prices of an organization's messages. */
import { otherCountries, priceCategories } from "../../../../tools/prices.ts";
import type { Queries } from "../../../database/database.ts";
import { columnOf, columnsOf, nullable, rowsOf } from "../../../database/query/index.ts";
import { bundledTables } from "./bundled.ts";
import { type CategoryRates, type RateTable, ratesOf } from "./rate-table.ts";

/** What messages of an organization cost. */
export interface Rates {
  /** The organization's currency. */
  readonly currency: string;
  /**
   * Of the operator's table, the rows for the requested countries and for `otherCountries`; without such a
   * table, the whole bundled one. Null: messages in this currency have no price.
   */
  readonly table: RateTable | null;
}

/** The rates for recipients in these countries. @throws Error if there is no such organization. */
export async function readRates(
  db: Queries,
  organization: string,
  countries: readonly (string | null)[],
): Promise<Rates> {
  const rates = (await readRatesOf(db, [organization], countries)).get(organization);
  if (!rates) {
    throw new Error(`There is no organization ${organization}`);
  }
  return rates;
}

/**
 * The rates of several organizations, by one statement, however many organizations and countries there are.
 * The operator's table for an organization's currency replaces the bundled table as soon as it is committed.
 */
export async function readRatesOf(
  db: Queries,
  organizations: readonly string[],
  countries: readonly (string | null)[],
): Promise<ReadonlyMap<string, Rates>> {
  const keys = [...new Set([...countries.filter((country) => country !== null), otherCountries])];
  const { rows } = await rowsOf(rateColumns)`
    select organizations.id as organization, organizations.currency, country, marketing, utility, authentication, service
    from organizations
      left join message_rates on message_rates.currency = organizations.currency and country = any(${keys}::text[])
    where organizations.id = any(${[...new Set(organizations)]}::text[])
  `.execute(db);
  const currencies = new Map(rows.map(({ organization, currency }) => [organization, currency]));
  const tables = new Map<string, [string, CategoryRates][]>();
  for (const { organization, currency: _, country, ...rates } of rows) {
    if (country !== null) {
      tables.set(organization, [...(tables.get(organization) ?? []), [country, rates]]);
    }
  }
  // Each table of the operator has a row for `otherCountries`, so without any row there is no such table.
  return new Map(
    [...currencies].map(([organization, currency]) => {
      const own = tables.get(organization);
      const table = own ? new Map(own) : (bundledTables.get(currency)?.table ?? null);
      return [organization, { currency, table }];
    }),
  );
}

/** If the operator has no row, all columns except the organization and the currency are null. */
const rateColumns = {
  organization: columnOf("organizations", "id"),
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
