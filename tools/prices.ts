/**
 * The prices of messages: rate tables, one for each currency, which the operator may replace. Its operations
 * are no tools.
 */
import { z } from "zod";
import {
  all,
  DeletionResult,
  type ErrorEntry,
  errorEntry,
  one,
  operation,
  timestamp,
} from "./contract/index.ts";
import { money } from "./money.ts";
import { currency } from "./organization.ts";

/** The categories by which messages are priced. Messages without a template are in the category service. */
export const priceCategories = ["marketing", "utility", "authentication", "service"] as const;

export type PriceCategory = (typeof priceCategories)[number];

/** The row for every country without its own row, and for a recipient without a country. */
export const otherCountries = "other";

const amount = money.min(0).max(1_000_000);

const rateCountry = z
  .string()
  .max(16)
  .trim()
  .overwrite((text) => (text.toLowerCase() === otherCountries ? otherCountries : text.toUpperCase()))
  .regex(
    /^(?:[A-Z]{2}|other)$/,
    'Send a two-letter country code (ISO 3166), for example DE, or "other" for all other countries.',
  );

const Rate = z.object({
  country: rateCountry,
  marketing: amount,
  utility: amount,
  authentication: amount,
  service: amount.optional(),
});

const rates = z
  .array(Rate)
  .max(300)
  .superRefine((rows, context) => {
    const seen = new Set<string>();
    for (const [index, { country }] of rows.entries()) {
      if (seen.has(country)) {
        const message = `Send each country once: ${country} is repeated.`;
        context.addIssue({ code: "custom", path: [index, "country"], message });
      }
      seen.add(country);
    }
    if (!seen.has(otherCountries)) {
      const message = 'Add a row with "country": "other": it prices every country that has no row.';
      context.addIssue({ code: "custom", message });
    }
  })
  .describe(
    'Every row of the table: a two-letter country code or "other", and prices of one message in units of the currency, with at most 6 decimals. Without service, it costs as much as utility',
  );

export type Rate = z.output<typeof Rate>;

const RateTable = z.object({
  currency: z.string(),
  source: z.enum(["bundled", "operator"]),
  effective_from: timestamp,
  rows: z.int(),
});

const WholeRateTable = RateTable.extend({
  rates: z.array(
    z.object({
      country: z.string(),
      marketing: z.number(),
      utility: z.number(),
      authentication: z.number(),
      service: z.number(),
    }),
  ),
});

export const prices = {
  list_message_rates: operation({
    method: "GET",
    path: "/operator/v1/rates",
    credential: "operator",
    scope: null,
    title: "List rate tables",
    description:
      "List the currencies in which messages have prices, and whether the operator's table or the bundled one applies.",
    input: z.object({}),
    output: all(RateTable),
    tools: {},
  }),

  get_message_rates: operation({
    method: "GET",
    path: "/operator/v1/rates/{currency}",
    credential: "operator",
    scope: null,
    title: "Get rate table",
    description: "Get the rate table that applies in a currency, by country.",
    input: z.object({ currency }),
    output: one(WholeRateTable),
    tools: {},
  }),

  replace_message_rates: operation({
    method: "PUT",
    path: "/operator/v1/rates/{currency}",
    credential: "operator",
    scope: null,
    title: "Replace rate table",
    description:
      "Replace the whole rate table of a currency, bundled or not. It applies to messages that are accepted from then on.",
    input: z.object({ currency, rates }),
    output: one(WholeRateTable),
    tools: {},
  }),

  delete_message_rates: operation({
    method: "DELETE",
    path: "/operator/v1/rates/{currency}",
    credential: "operator",
    scope: null,
    title: "Delete rate table",
    description:
      "Delete the operator's rate table of a currency. The bundled one applies again; without one, messages have no price in this currency.",
    input: z.object({ currency }),
    output: one(DeletionResult),
    tools: {},
  }),
};

export const priceErrors = {
  rates_not_found: errorEntry(
    "not_found",
    404,
    "There is no rate table in this currency.",
    "List the tables with GET /operator/v1/rates, or add this one with PUT.",
  ),
  rates_not_replaced: errorEntry(
    "not_found",
    404,
    "The operator has no rate table in this currency.",
    "List the tables with GET /operator/v1/rates: only those with the source operator can be deleted.",
  ),
} as const satisfies Record<string, ErrorEntry>;
