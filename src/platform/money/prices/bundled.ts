/**
 * The bundled rate table: the list prices of WhatsApp messages in USD, by market and category.
 *
 * Source: Meta's rate card "Cost per message in USD on the WhatsApp Business Platform, effective October 1,
 * 2026", to which https://developers.facebook.com/documentation/business-messaging/whatsapp/pricing links,
 * and the table of calling codes on that page. Both were read in public copies. Prices are facts, for which
 * no licence is stated; no text of the page is contained here. docs/prices.md says how the figures were
 * checked, and what is an estimate.
 */
import { otherCountries } from "../../../../tools/prices.ts";
import type { CategoryRates, RateTable } from "./rate-table.ts";

/** Amounts in millionths of a US dollar. */
type Market = readonly [
  name: string,
  /** ISO 3166, separated by spaces. */
  countries: string,
  marketing: number,
  utility: number,
  authentication: number,
  service: number,
];

/**
 * A market is a calling code, so a territory that shares the calling code of a listed country belongs to its
 * market: Jersey to the United Kingdom, Vatican City to Italy. Within +1 and +7, countries have markets of
 * their own.
 */
const markets: readonly Market[] = [
  ["Argentina", "AR", 61_800, 26_000, 26_000, 26_000],
  ["Bangladesh", "BD", 73_200, 3_700, 3_700, 3_700],
  ["Brazil", "BR", 62_500, 6_800, 6_800, 6_800],
  ["Chile", "CL", 88_900, 20_000, 20_000, 20_000],
  ["Colombia", "CO", 12_500, 800, 800, 800],
  ["Egypt", "EG", 64_400, 3_600, 3_600, 3_600],
  ["France", "FR", 85_900, 30_000, 30_000, 30_000],
  ["Germany", "DE", 136_500, 55_000, 55_000, 55_000],
  ["Hong Kong", "HK", 73_200, 26_000, 26_000, 26_000],
  ["Hungary", "HU", 86_000, 35_000, 35_000, 35_000],
  ["India", "IN", 11_800, 1_400, 1_400, 1_400],
  ["Indonesia", "ID", 41_100, 25_000, 25_000, 25_000],
  ["Iraq", "IQ", 34_100, 7_900, 7_900, 7_900],
  ["Israel", "IL", 35_300, 5_300, 5_300, 5_300],
  ["Italy", "IT VA", 79_500, 30_000, 30_000, 30_000],
  ["Kazakhstan", "KZ", 60_400, 18_000, 18_000, 18_000],
  ["Kuwait", "KW", 79_200, 44_000, 44_000, 44_000],
  ["Malaysia", "MY", 86_000, 14_000, 14_000, 14_000],
  ["Mexico", "MX", 39_700, 8_500, 8_500, 8_500],
  ["Morocco", "EH MA", 41_400, 23_000, 23_000, 23_000],
  ["Netherlands", "NL", 159_700, 50_000, 50_000, 50_000],
  ["Nepal", "NP", 73_200, 3_400, 3_400, 3_400],
  ["Nigeria", "NG", 51_600, 6_700, 6_700, 6_700],
  ["Oman", "OM", 34_100, 24_700, 24_700, 24_700],
  ["Pakistan", "PK", 47_300, 15_000, 15_000, 15_000],
  ["Peru", "PE", 70_300, 30_000, 30_000, 30_000],
  ["Poland", "PL", 36_600, 12_200, 12_200, 12_200],
  ["Qatar", "QA", 34_100, 12_000, 12_000, 12_000],
  ["Romania", "RO", 86_000, 29_000, 29_000, 29_000],
  ["Russia", "RU", 80_200, 40_000, 40_000, 40_000],
  ["Saudi Arabia", "SA", 57_600, 10_700, 10_700, 10_700],
  ["Singapore", "SG", 73_200, 16_000, 16_000, 16_000],
  ["South Africa", "ZA", 37_900, 9_500, 9_500, 9_500],
  ["Spain", "ES", 70_700, 20_000, 20_000, 20_000],
  ["Sri Lanka", "LK", 73_200, 2_000, 2_000, 2_000],
  ["Turkey", "TR", 10_900, 900, 900, 900],
  ["Ukraine", "UA", 86_000, 29_800, 29_800, 29_800],
  ["United Arab Emirates", "AE", 57_600, 15_700, 15_700, 15_700],
  ["United Kingdom", "GB GG IM JE", 63_500, 22_000, 22_000, 22_000],
  ["North America", "CA US", 25_000, 3_400, 3_400, 3_400],
  [
    "Rest of Africa",
    "DZ AO BJ BW BF BI CM TD CG ER ET GA GM GH GW CI KE LS LR LY MG MW ML MR MZ NA NE RW SN SL SO SS SD SZ TZ TG TN UG ZM ZW",
    22_500,
    4_000,
    4_000,
    4_000,
  ],
  [
    "Rest of Asia Pacific",
    "AF AU CC CX KH CN JP LA MN NZ PG PH TW TJ TH TM UZ VN",
    84_200,
    11_300,
    11_300,
    11_300,
  ],
  [
    "Rest of Central & Eastern Europe",
    "AL AM AZ BY BG HR CZ GE GR LV LT MD MK RS SK SI",
    86_000,
    21_200,
    21_200,
    21_200,
  ],
  ["Rest of Latin America", "BO CR DO EC SV GT HT HN JM NI PA PY PR UY VE", 74_000, 11_300, 11_300, 11_300],
  ["Rest of Middle East", "BH JO LB YE", 39_200, 9_100, 9_100, 9_100],
  ["Rest of Western Europe", "AT AX BE DK FI IE NO PT SE SJ CH", 59_200, 17_100, 17_100, 17_100],
  ["Other", otherCountries, 60_400, 7_700, 7_700, 7_700],
];

export interface BundledTable {
  /** When the published rates came into force. */
  readonly effective_from: string;
  readonly table: RateTable;
}

/** Keyed by currency. */
export const bundledTables: ReadonlyMap<string, BundledTable> = new Map([
  ["USD", { effective_from: "2026-10-01T00:00:00.000Z", table: toTable(markets) }],
]);

function toTable(list: readonly Market[]): RateTable {
  return new Map(
    list.flatMap(([, countries, marketing, utility, authentication, service]) => {
      const rates: CategoryRates = { marketing, utility, authentication, service };
      return countries.split(" ").map((country) => [country, rates] as const);
    }),
  );
}
