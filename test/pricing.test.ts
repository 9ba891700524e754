/** Pricing: the plans, in the currency of the country from which the request is sent. */
import { describe, expect, test } from "vitest";
import { readConfig } from "../src/config/index.ts";
import { pricedCurrencies } from "../src/platform/money/pricing/plans.ts";
import { mcp } from "../tools/mcp.ts";
import { planSlugs, pricing } from "../tools/pricing.ts";
import { useTestApp } from "./support/app.ts";

type Pricing = Awaited<ReturnType<typeof read>>["data"];

/** Without a credential, as a proxy forwards it. */
async function read(app: Pick<ReturnType<typeof useTestApp>, "fetch">, forwarded?: string) {
  const headers: Record<string, string> = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  const response = await app.fetch("/v1/pricing", { key: null, headers });
  expect(response.status).toBe(200);
  const { data } = pricing.get_pricing.output.parse(await response.json());
  return { data, headers: response.headers };
}

const addresses = {
  USD: ["8.8.8.8", "US", "$"],
  EUR: ["2a02:8109::1", "DE", "€"],
  GBP: ["81.2.69.142", "GB", "£"],
  INR: ["::ffff:49.36.0.1", "IN", "₹"],
  BRL: ["2804:14c::1", "BR", "R$"],
  JPY: ["210.155.141.200", "JP", "¥"],
} as const;

describe("behind a proxy", () => {
  const app = useTestApp({ env: { TIDINGS_TRUSTED_PROXIES: "127.0.0.1,10.0.0.0/8" } });

  test.each(pricedCurrencies)("prices are in %s where it is the currency", async (currency) => {
    const [address, country, symbol] = addresses[currency];
    const { data, headers } = await read(app, address);
    expect(data).toMatchObject({ country_code: country, currency_code: currency, currency_symbol: symbol });
    expect(data.plans.map(({ slug }) => slug)).toEqual(planSlugs);
    expect(data.plans.map(({ sort_order }) => sort_order)).toEqual([1, 2, 3, 4]);
    const exponent = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions();
    for (const price of pricesOf(data)) {
      expect(price).toBeGreaterThan(0);
      expect(Number(price.toFixed(exponent.maximumFractionDigits))).toBe(price);
    }
    expect(headers.get("cache-control")).toBe("private, max-age=300");
    expect(headers.get("vary")).toContain("X-Forwarded-For");
  });

  test("prices rise from plan to plan, and a custom one has none", async () => {
    const { data } = await read(app, addresses.EUR[0]);
    const [starter, growth, scale, enterprise] = data.plans;
    expect([starter?.monthly_price, growth?.monthly_price, scale?.monthly_price]).toEqual([27, 89, 279]);
    expect([starter?.annual_price, growth?.annual_price, scale?.annual_price]).toEqual([270, 890, 2790]);
    const none = { monthly_price: null, annual_price: null, is_custom_pricing: true };
    expect(enterprise).toMatchObject({ id: "plan_enterprise", name: "Enterprise", ...none });
    expect(data.plans.filter(({ is_custom_pricing }) => is_custom_pricing)).toEqual([enterprise]);
  });

  test("the country is that of the last address before the trusted proxies", async () => {
    const [japan, india, britain] = [addresses.JPY[0], "49.36.0.1", addresses.GBP[0]];
    const countryOf = async (forwarded: string) => (await read(app, forwarded)).data.country_code;
    expect(await countryOf(`${japan}, ${india}`)).toBe("IN");
    expect(await countryOf(`${japan}, ${india}, 10.1.2.3`)).toBe("IN");
    expect(await countryOf(`${japan}, ${britain}, 10.9.9.9, 127.0.0.1`)).toBe("GB");
    // Not what stands before an address that is no proxy.
    expect(await countryOf(`${japan}, 192.168.0.1`)).toBe("US");
    expect(await countryOf(`${japan}, unknown`)).toBe("US");
    expect(await countryOf("10.1.2.3")).toBe("US");
  });

  test("other currencies see prices in US dollars", async () => {
    // The University of Zürich.
    const { data } = await read(app, "130.60.1.1");
    expect(data).toMatchObject({ country_code: "CH", currency_code: "USD", currency_symbol: "$" });
  });

  test("a tool call has the country of the MCP client, over /mcp and over REST", async () => {
    const headers = { "x-forwarded-for": addresses.JPY[0] };
    const call = { name: "get_pricing", arguments: {} };
    const rest = await app.fetch("/v1/mcp/tools/call", { method: "POST", headers, json: call });
    const { data } = mcp.call_mcp_tool.output.parse(await rest.json());
    expect(data).toMatchObject({ country_code: "JP" });
    const response = await app.fetch("/mcp", {
      method: "POST",
      headers: { ...headers, accept: "application/json, text/event-stream" },
      json: { jsonrpc: "2.0", id: 1, method: "tools/call", params: call },
    });
    expect(await response.text()).toContain('"country_code":"JP"');
  });
});

describe("without a proxy", () => {
  const app = useTestApp({ env: { TIDINGS_PRICING_COUNTRY: "de" } });

  test("the header of the client is ignored, and a private address has the country of the setting", async () => {
    const expected = { country_code: "DE", currency_code: "EUR" };
    expect((await read(app)).data).toMatchObject(expected);
    expect((await read(app, addresses.JPY[0])).data).toMatchObject(expected);
  });

  test("an invalid credential does not matter", async () => {
    const response = await app.fetch("/v1/pricing", { key: "sk_live_wrong" });
    expect(response.status).toBe(200);
  });
});

test.each(["Germany", "UK", "ZZ", "SU", "1"])("%s is no country for TIDINGS_PRICING_COUNTRY", (country) => {
  expect(() => readConfig({ TIDINGS_PRICING_COUNTRY: country })).toThrow(
    "TIDINGS_PRICING_COUNTRY takes a two-letter country code (ISO 3166), for example DE.",
  );
});

function pricesOf({ plans }: Pricing): number[] {
  return plans.flatMap(({ monthly_price, annual_price }) => [monthly_price ?? [], annual_price ?? []].flat());
}
