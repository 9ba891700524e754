/** Amounts of money: numbers in the unit of a currency, stored as integers in millionths of the unit. */
import { z } from "zod";

const microsPerUnit = 1_000_000;

/** The largest amount of one field, in units of a currency. */
const maxAmount = 1_000_000_000;

/** In units of a currency, for example 0.005 for half a cent. */
export const money = z
  .number()
  .min(-maxAmount)
  .max(maxAmount)
  // Exact: a number with up to six decimals is the nearest number to its count of millionths.
  .refine((units) => fromMicros(toMicros(units)) === units, {
    error: "Send at most 6 decimals, for example 0.0088.",
  });

/** For an amount of at most six decimals. */
export function toMicros(units: number): number {
  return Math.round(units * microsPerUnit);
}

/** The number whose decimal form is the amount. */
export function fromMicros(micros: number): number {
  return micros / microsPerUnit;
}
