/** A rate table: what a message costs by country and category, in millionths of the table's currency. */
import { microsPerUnit, otherCountries, type PriceCategory } from "../../../tools/prices.ts";

export type CategoryRates = Readonly<Record<PriceCategory, number>>;

/** By ISO country. Every table has a row for `otherCountries`. */
export type RateTable = ReadonlyMap<string, CategoryRates>;

/** Without a country, or without a row of its own, the row for the other countries. */
export function ratesOf(table: RateTable, country: string | null): CategoryRates | undefined {
  return (country === null ? undefined : table.get(country)) ?? table.get(otherCountries);
}

/** For an amount of at most six decimals. */
export function toMicros(units: number): number {
  return Math.round(units * microsPerUnit);
}

/** The number whose decimal form is the amount. */
export function toUnits(micros: number): number {
  return micros / microsPerUnit;
}
