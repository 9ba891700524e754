/** Amounts of payments: the decimals of currencies, and conversions, computed with decimal text. */
import { failField } from "../../../../tools/errors.ts";

/** The currencies that the processor takes, keyed by their number of decimals. */
const currenciesBy: Readonly<Record<number, string>> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
  2: `AED ALL AMD AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BZD CAD CHF CNY COP CRC CUP CVE CZK DKK DOP
    DZD EGP ETB EUR FJD GBP GHS GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR JMD KES KGS KHR KYD KZT LAK LKR LRD LSL MAD
    MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SCR
    SEK SGD SLL SOS SVC SZL THB TRY TTD TWD TZS UAH USD UYU UZS XCD YER ZAR ZMW`,
  3: "BHD IQD JOD KWD OMR TND",
};

const decimalsOf = new Map(
  Object.entries(currenciesBy).flatMap(([decimals, currencies]) =>
    currencies.split(/\s+/).map((currency) => [currency, Number(decimals)] as const),
  ),
);

const microDecimals = 6;

/** Undefined if the processor takes no payments in the currency. */
export function findDecimals(currency: string): number | undefined {
  return decimalsOf.get(currency);
}

/**
 * The amount in the smallest unit of the currency.
 * @throws Failure `amount_decimals`, also for a third decimal other than 0 in currencies with three decimals:
 *   cards have two.
 */
export function toMinor(amount: number, { currency, decimals }: Money): number {
  const [, whole = "", fraction = ""] = /^(\d+)(?:\.(\d+))?$/.exec(String(amount)) ?? [];
  if (whole === "" || fraction.length > Math.min(decimals, 2)) {
    const rule =
      decimals === 0
        ? "no decimals"
        : decimals === 3
          ? "three decimals, of which the payment processor requires the last to be 0"
          : "at most 2 decimals";
    const example = decimals === 0 ? "500" : "10.25";
    throw failField("amount", "amount_decimals", { currency, decimals, rule, example });
  }
  return Number(whole + fraction.padEnd(decimals, "0"));
}

/** The number whose decimal form is the amount. */
export function fromMinor(minor: number, currency: string): number {
  // A payment that does not match its order may be in any currency.
  const decimals = findDecimals(currency) ?? 2;
  const digits = String(minor).padStart(decimals + 1, "0");
  const point = digits.length - decimals;
  return Number(`${digits.slice(0, point)}.${digits.slice(point)}`);
}

/** The amount in millionths of the currency's unit, as in the ledger. */
export function minorToMicros(minor: number, currency: string): number {
  const decimals = findDecimals(currency);
  if (decimals === undefined) {
    throw new Error(`There are no payments in ${currency}`);
  }
  return Number(`${minor}${"0".repeat(microDecimals - decimals)}`);
}

interface Money {
  readonly currency: string;
  readonly decimals: number;
}
