/** Reads the prices of an organization's messages. */
import { sql } from "kysely";
import { otherCountries, type PriceCategory } from "../../../tools/prices.ts";
import type { Queries } from "../../database/database.ts";
import { onlyRow } from "../../database/query/index.ts";
import { bundledTables } from "./bundled.ts";
import { type RateTable, ratesOf } from "./rate-table.ts";

/** What messages of an organization cost. */
export interface Rates {
  /** The organization's. */
  readonly currency: string;
  /** The requested countries that have a row, and the row for the others. Null: messages in this currency have no price. */
  readonly table: RateTable | null;
}

/**
 * The rates for recipients in these countries, by one statement that reads whole keys, however many they are. The
 * operator's table for the organization's currency applies instead of the bundled one, as last committed.
 */
export async function readRates(
  db: Queries,
  organization: string,
  countries: readonly (string | null)[],
): Promise<Rates> {
  const keys = [...new Set([...countries.filter((country) => country !== null), otherCountries])];
  const rows = await db
    .selectFrom("organizations")
    .leftJoin("message_rates", (join) =>
      join
        .onRef("message_rates.currency", "=", "organizations.currency")
        .on(sql<boolean>`message_rates.country = any(${keys})`),
    )
    .select("organizations.currency")
    .select(["country", "marketing", "utility", "authentication", "service"])
    .where("organizations.id", "=", organization)
    .execute();
  const { currency } = onlyRow(rows);
  // Each table of the operator has a row for the other countries, so that none of its rows means none at all.
  const own = rows.flatMap(({ country, marketing, utility, authentication, service }) =>
    country === null || marketing === null || utility === null || authentication === null || service === null
      ? []
      : [[country, { marketing, utility, authentication, service }] as const],
  );
  return { currency, table: own.length > 0 ? new Map(own) : (bundledTables.get(currency)?.table ?? null) };
}

/** The price of one message in millionths of the currency, or null if messages have no price. */
export function priceOf({ table }: Rates, country: string | null, category: PriceCategory): number | null {
  return (table && ratesOf(table, country)?.[category]) ?? null;
}
