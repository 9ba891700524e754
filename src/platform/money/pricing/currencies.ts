/** The currency in which prices are shown in a country. */
import type { PricedCurrency } from "./plans.ts";

/**
 * The countries in which each currency is legal tender by ISO 4217, and Kosovo (XK), which uses the euro. In
 * all other countries prices are shown in US dollars.
 */
const countriesOf: Readonly<Record<Exclude<PricedCurrency, "USD">, string>> = {
  EUR: "AD AT AX BE BG BL CY DE EE ES FI FR GF GP GR HR IE IT LT LU LV MC ME MF MQ MT NL PM PT RE SI SK SM TF VA XK YT",
  GBP: "GB GG IM JE",
  INR: "BT IN",
  BRL: "BR",
  JPY: "JP",
};

const currencies = new Map(
  Object.entries(countriesOf).flatMap(([currency, countries]) =>
    // The currencies are the keys of the table above.
    countries.split(" ").map((country) => [country, currency as PricedCurrency] as const),
  ),
);

export function currencyOf(country: string): PricedCurrency {
  return currencies.get(country) ?? "USD";
}

/** The shortest symbol that is unambiguous among the currencies with prices: $, €, £, ₹, R$, ¥. */
export function symbolOf(currency: PricedCurrency): string {
  const format = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
    currencyDisplay: "narrowSymbol",
  });
  return format.formatToParts(0).find(({ type }) => type === "currency")?.value ?? currency;
}
