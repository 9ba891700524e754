/** The built program finds its table of countries, and ends with an error for one that it can't use. */
import { expect, test } from "vitest";
import { pricing } from "../../tools/pricing.ts";
import { openProcesses } from "../support/served-process.ts";

test.concurrent("the country of an address is found in the table of the build", async () => {
  await using processes = await openProcesses();
  const { client } = await processes.serve({ TIDINGS_TRUSTED_PROXIES: "127.0.0.1" });
  const headers = { "x-forwarded-for": "210.155.141.200" };
  const { data } = await client.call(pricing.get_pricing, {}, { headers });
  expect(data).toMatchObject({ country_code: "JP", currency_symbol: "¥" });
});

test.concurrent("a table that can't be used ends the start with its name and what to do", async () => {
  await using processes = await openProcesses();
  const serving = processes.serve({ TIDINGS_GEOIP_FILE: "/dev/null" });
  await expect(serving).rejects.toThrow(
    /tidings: TIDINGS_GEOIP_FILE can't be used \(it is not in the MaxMind DB format, or damaged\)\. Give the path/,
  );
});
