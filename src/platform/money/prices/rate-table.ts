/** A rate table: what a message costs by country and category, in millionths of the table's currency. */
import { otherCountries, type PriceCategory } from "../../../../tools/prices.ts";

export type CategoryRates = Readonly<Record<PriceCategory, number>>;

/** Keyed by ISO country. Every table has a row for `otherCountries`. */
export type RateTable = ReadonlyMap<string, CategoryRates>;

/** The rates of a country. Without a country, or without a row for it, the rates of `otherCountries`. */
export function ratesOf(table: RateTable, country: string | null): CategoryRates | undefined {
  return (country === null ? undefined : table.get(country)) ?? table.get(otherCountries);
}
