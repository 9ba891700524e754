/** Pricing: the plans in the caller's currency. Public. */
import { z } from "zod";
import { one, operation } from "./contract/index.ts";

/** The plans, from the smallest to the largest. */
export const planSlugs = ["starter", "growth", "scale", "enterprise"] as const;
export type PlanSlug = (typeof planSlugs)[number];

const Plan = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  description: z.string(),
  /** Null if the price is agreed on request. */
  monthly_price: z.number().nullable(),
  /** The price of a whole year. */
  annual_price: z.number().nullable(),
  is_custom_pricing: z.boolean(),
  features: z.array(z.string()),
  sort_order: z.int(),
});

export const pricing = {
  get_pricing: operation({
    method: "GET",
    path: "/v1/pricing",
    credential: "none",
    scope: null,
    title: "Get pricing",
    description: "Get the plans, with prices in the currency of the caller's country.",
    // The country follows from the client's address, which a trusted proxy names in X-Forwarded-For.
    responseHeaders: { "cache-control": "private, max-age=300", vary: "X-Forwarded-For" },
    input: z.object({}),
    output: one(
      z.object({
        country_code: z.string(),
        currency_code: z.string(),
        currency_symbol: z.string(),
        plans: z.array(Plan),
      }),
    ),
  }),
};
