/**
 * Prices of messages: the country of a number, the bundled table, the operator's tables,
 * and how they are read.
 */
import { getCountries } from "libphonenumber-js/min";
import { describe, expect, test } from "vitest";
import { bundledTables } from "../src/platform/money/prices/bundled.ts";
import { marketOf, priceOf, readRates } from "../src/platform/money/prices/index.ts";
import { operator } from "../tools/operator.ts";
import { otherCountries, prices, type Rate } from "../tools/prices.ts";
import { useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { asOperator, createOrganizationFor } from "./support/operator.ts";
import { isPooled } from "./support/postgres.ts";

const app = useTestApp();

const germany = { country: "DE", marketing: 0.1, utility: 0.0088, authentication: 0.000001, service: 0 };
const other = { country: "other", marketing: 0.5, utility: 0.25, authentication: 0.125 };

const list = () => app.call(prices.list_message_rates, {}, asOperator);
const get = (currency: string) => app.call(prices.get_message_rates, { currency }, asOperator);
const remove = (currency: string) => app.call(prices.delete_message_rates, { currency }, asOperator);
const replace = (currency: string, rates: readonly Rate[] = [germany, other], key?: string) =>
  app.call(
    prices.replace_message_rates,
    { currency, rates: [...rates] },
    { ...asOperator, ...(key === undefined ? {} : { idempotencyKey: key }) },
  );

/** What readRates returns for a new organization in the currency. */
async function read(currency: string, ...countries: (string | null)[]) {
  const owner = { email: `${currency}.${Math.random()}@example.org`, name: "Owner" };
  const { data } = await app.call(
    operator.create_organization,
    { name: "Shop", owner, currency },
    asOperator,
  );
  return readRates(app.server.database.queries, data.organization.id, countries);
}

describe("the country of a number", () => {
  test.each([
    // The North American plan: by the area code.
    ["+14155550123", "US"],
    ["+14165550123", "CA"],
    ["+18095550123", "DO"],
    ["+18765550123", "JM"],
    ["+17875550123", "PR"],
    ["+12425550123", "BS"],
    ["+16845551234", "AS"],
    ["+18005550123", "US"],
    // An area code that is not assigned.
    ["+15550001234", "US"],
    ["+79161234567", "RU"],
    ["+77011234567", "KZ"],
    ["+77172123456", "KZ"],
    ["+70000000000", "RU"],
    ["+447400123456", "GB"],
    ["+447781123456", "GG"],
    ["+447797712345", "JE"],
    ["+440000000000", "GB"],
    ["+393123456789", "IT"],
    ["+390669812345", "VA"],
    ["+212650123456", "MA"],
    ["+5997151234", "BQ"],
    ["+5999112345", "CW"],
    ["+61412345678", "AU"],
    ["+61891641234", "CX"],
    ["+4740612345", "NO"],
    ["+4779123456", "SJ"],
    ["+33612345678", "FR"],
    ["+590690001234", "GP"],
    ["+262692123456", "RE"],
    ["+262639012345", "YT"],
    ["+358412345678", "FI"],
    ["+5511987654321", "BR"],
    ["+919876543210", "IN"],
    ["+4915112345678", "DE"],
    ["+38349123456", "XK"],
  ])("%s is %s", (number, country) => {
    expect(marketOf(number)).toBe(country);
  });

  test.each([["+80012345678"], ["+881612345678"], ["+999123456789"], ["US.13491208655302741918"], [null]])(
    "%s has none",
    (recipient) => {
      expect(marketOf(recipient)).toBeNull();
    },
  );
});

describe("the bundled table", () => {
  const table = bundledTables.get("USD")?.table ?? new Map();

  test("has each country at most once, all of them countries, and a row for the others", () => {
    const known: string[] = getCountries();
    const listed = [...table.keys()].filter((country) => country !== otherCountries);
    expect(listed.filter((country) => !known.includes(country))).toEqual([]);
    // As many as the markets list: a country of two markets would be counted once.
    expect(listed).toHaveLength(150);
    expect(table.get(otherCountries)).toEqual({
      marketing: 60_400,
      utility: 7_700,
      authentication: 7_700,
      service: 7_700,
    });
  });

  test("prices every country in every category by whole millionths", async () => {
    const rates = await read("USD", ...getCountries());
    const all = getCountries().flatMap((country) =>
      (["marketing", "utility", "authentication", "service"] as const).map((category) =>
        priceOf(rates, country, category),
      ),
    );
    expect(all.filter((price) => !Number.isInteger(price) || Number(price) <= 0)).toEqual([]);
  });

  test.each([
    ["AE", "marketing", 57_600],
    ["US", "utility", 3_400],
    ["CA", "authentication", 3_400],
    ["KZ", "service", 18_000],
    ["RU", "service", 40_000],
    ["JE", "marketing", 63_500],
    ["KE", "marketing", 22_500],
    ["JP", "marketing", 84_200],
    ["BS", "marketing", 60_400],
    ["KR", "utility", 7_700],
    [null, "marketing", 60_400],
  ] as const)("%s, %s: %i millionths of a dollar", async (country, category, price) => {
    expect(priceOf(await read("USD", country), country, category)).toBe(price);
  });

  test("service costs as much as utility in every market", () => {
    expect([...table.values()].filter(({ utility, service }) => utility !== service)).toEqual([]);
  });
});

describe("the rates of an organization", () => {
  test("are null in a currency without a table, and messages have no price", async () => {
    const rates = await read("CHF", "DE");
    expect(rates).toEqual({ currency: "CHF", table: null });
    expect(priceOf(rates, "DE", "marketing")).toBeNull();
  });

  test("are those of its currency alone: the operator's, without any row of the bundled table", async () => {
    await replace("SEK");
    const rates = await read("SEK", "DE", "US", null);
    expect(rates).toEqual({
      currency: "SEK",
      table: new Map([
        ["DE", { marketing: 100_000, utility: 8_800, authentication: 1, service: 0 }],
        ["other", { marketing: 500_000, utility: 250_000, authentication: 125_000, service: 250_000 }],
      ]),
    });
    expect(priceOf(rates, "DE", "service")).toBe(0);
    expect(priceOf(rates, "US", "marketing")).toBe(500_000);
    expect(priceOf(rates, null, "service")).toBe(250_000);
    expect((await read("USD", "US")).table?.get("US")?.marketing).toBe(25_000);
  });

  test("are read by one statement, and from the next commit on are the new ones", async () => {
    await replace("NOK");
    const { id } = await createOrganizationFor(app, "Shop");
    const { database } = app.server;
    await database.queries
      .updateTable("organizations")
      .set({ currency: "NOK" })
      .where("id", "=", id)
      .execute();
    const before = database.pool().statements;
    const rates = await readRates(database.queries, id, getCountries());
    // Behind a pooler the statement has a transaction of its own.
    expect(database.pool().statements - before).toBe(isPooled ? 3 : 1);
    expect(priceOf(rates, "DE", "marketing")).toBe(100_000);
    await replace("NOK", [{ ...other, marketing: 0.7 }]);
    expect(priceOf(await readRates(database.queries, id, ["DE"]), "DE", "marketing")).toBe(700_000);
    await remove("NOK");
    expect(priceOf(await readRates(database.queries, id, ["DE"]), "DE", "marketing")).toBeNull();
  });
});

describe("the operator", () => {
  test("lists the tables by currency, and those of the operator replace the bundled one", async () => {
    await replace("DKK");
    const before = (await list()).data;
    expect(before).toContainEqual({
      currency: "USD",
      source: "bundled",
      effective_from: "2026-10-01T00:00:00.000Z",
      rows: 151,
    });
    expect(before.map(({ currency }) => currency)).toEqual(before.map(({ currency }) => currency).toSorted());
    await replace("USD");
    const { data, meta } = await list();
    expect(meta.total).toBe(data.length);
    expect(data.filter(({ currency }) => currency === "USD")).toEqual([
      { currency: "USD", source: "operator", effective_from: app.now().toISOString(), rows: 2 },
    ]);
    expect((await remove("USD")).data).toEqual({ deleted: true });
    expect((await list()).data).toEqual(before);
  });

  test("gets back the rows of a table as they were sent, the other countries last", async () => {
    const { data } = await replace("eur", [other, germany]);
    expect(data).toEqual({
      currency: "EUR",
      source: "operator",
      effective_from: app.now().toISOString(),
      rows: 2,
      rates: [germany, { ...other, service: other.utility }],
    });
    expect(await get("EUR")).toEqual({ data });
    const usd = await get("usd");
    expect((await replace("USD", usd.data.rates)).data.rates).toEqual(usd.data.rates);
    await remove("USD");
  });

  test("replaces a whole table, once for a repeated request", async () => {
    await replace("PLN", [germany, other], "first");
    await replace("PLN", [other]);
    expect((await get("PLN")).data.rows).toBe(1);
    await replace("PLN", [germany, other], "first");
    expect((await get("PLN")).data.rows).toBe(1);
  });

  test("replaces a table several times at once: one of them stays, whole", async () => {
    const tables = [1, 2, 3, 4].map((marketing) => [germany, { ...other, marketing }]);
    const answers = await Promise.all(tables.map((rates) => replace("CZK", rates)));
    const { data } = await get("CZK");
    expect(answers.map((answer) => answer.data.rates)).toContainEqual(data.rates);
    expect(data.rows).toBe(2);
  });

  test("deletes only a table of the operator", async () => {
    for (const currency of ["USD", "JPY"]) {
      expect(await expectFailure(remove(currency))).toMatchObject({
        status: 404,
        code: "rates_not_replaced",
      });
    }
    expect(await expectFailure(get("JPY"))).toMatchObject({ status: 404, code: "rates_not_found" });
  });

  test.each([
    ["a country twice", [germany, { ...germany, country: "de" }, other], "rates[1].country"],
    ["no row for the other countries", [germany], "rates"],
    ["no rows", [], "rates"],
    ["a negative amount", [{ ...other, utility: -0.01 }], "rates[0].utility"],
    ["seven decimals", [{ ...other, utility: 0.0000001 }], "rates[0].utility"],
    ["more decimals than count", [{ ...other, utility: 0.0088001 }], "rates[0].utility"],
    ["an unknown country", [other, { ...germany, country: "XX" }], "rates[1].country"],
    ["the name of a country", [other, { ...germany, country: "Germany" }], "rates[1].country"],
    ["too high an amount", [{ ...other, marketing: 1_000_001 }], "rates[0].marketing"],
  ])("can't send %s, and is told which field", async (_, rates, param) => {
    expect(await expectFailure(replace("HUF", rates))).toMatchObject({ status: 400, error: { param } });
    expect(await expectFailure(get("HUF"))).toMatchObject({ status: 404 });
  });

  test("can't send a category less, an amount as text, or a currency that does not exist", async () => {
    const put = async (currency: string, rates: unknown) => {
      const path = `/operator/v1/rates/${currency}`;
      const answer = await app.fetch(path, { method: "PUT", key: asOperator.key, json: { rates } });
      const body = (await answer.json()) as { error?: { param?: string } };
      return [answer.status, body.error?.param];
    };
    expect(await put("HUF", [{ country: "other", marketing: 1, utility: 1 }])).toEqual([
      400,
      "rates[0].authentication",
    ]);
    expect(await put("HUF", [{ ...other, marketing: "0.1" }])).toEqual([400, "rates[0].marketing"]);
    expect(await put("HUF", undefined)).toEqual([400, "rates"]);
    expect(await put("QQQ", [other])).toEqual([400, "currency"]);
  });

  test("alone may do so", async () => {
    for (const key of ["", undefined]) {
      const options = key === undefined ? {} : { key };
      expect(await expectFailure(app.call(prices.list_message_rates, {}, options))).toMatchObject({
        status: 401,
        code: "operator_key_required",
      });
    }
  });
});

test.each([0.0088, 0.1365, 0.000001, 0.1, 0.3, 1.005, 16.123457, 999_999.999999, 1_000_000, 0])(
  "%d units are exact",
  async (marketing) => {
    const { data } = await replace("ZAR", [{ ...other, marketing }]);
    expect(data.rates[0]?.marketing).toBe(marketing);
    const stored = await app.server.database.queries
      .selectFrom("message_rates")
      .select("marketing")
      .where("currency", "=", "ZAR")
      .executeTakeFirstOrThrow();
    expect(String(stored.marketing)).toBe(
      marketing
        .toFixed(6)
        .replace(".", "")
        .replace(/^0+(?=\d)/, ""),
    );
  },
);
