/** A rate table: what a message costs by country and category, in millionths of the table's currency. */
import { otherCountries, type PriceCategory } from "../../../../tools/prices.ts";

export type CategoryRates = Readonly<Record<PriceCategory, number>>;

/** By ISO country. Every table has a row for `otherCountries`. */
export type RateTable = ReadonlyMap<string, CategoryRates>;

/** Without a country, or without a row of its own, the row for the other countries. */
export function ratesOf(table: RateTable, country: string | null): CategoryRates | undefined {
  return (country === null ? undefined : table.get(country)) ?? table.get(otherCountries);
}
