/**
 * The plans and their prices, listed by hand for each currency: no price is converted from another.
 *
 * Amounts are in the currency's unit and have no more decimals than the currency. A year costs as much as ten
 * months.
 */
import type { PlanSlug } from "../../../../tools/pricing.ts";

export const pricedCurrencies = ["USD", "EUR", "GBP", "INR", "BRL", "JPY"] as const;
export type PricedCurrency = (typeof pricedCurrencies)[number];

interface Plan {
  readonly slug: PlanSlug;
  readonly name: string;
  readonly description: string;
  readonly features: readonly string[];
  /** The prices of a month and of a year; null: agreed on request. */
  readonly prices: Readonly<Record<PricedCurrency, readonly [number, number]>> | null;
}

/** In the order in which the plans are shown. */
export const pricingPlans: readonly Plan[] = [
  {
    slug: "starter",
    name: "Starter",
    description: "For a team that answers its customers.",
    features: [
      "Contacts and conversations",
      "Templates and quick replies",
      "REST API, webhooks and MCP server",
    ],
    prices: {
      USD: [29, 290],
      EUR: [27, 270],
      GBP: [24, 240],
      INR: [1_499, 14_990],
      BRL: [119, 1_190],
      JPY: [3_900, 39_000],
    },
  },
  {
    slug: "growth",
    name: "Growth",
    description: "For campaigns to many customers.",
    features: ["Everything in Starter", "Cohorts and broadcasts", "Routing to teams"],
    prices: {
      USD: [99, 990],
      EUR: [89, 890],
      GBP: [79, 790],
      INR: [4_999, 49_990],
      BRL: [399, 3_990],
      JPY: [13_800, 138_000],
    },
  },
  {
    slug: "scale",
    name: "Scale",
    description: "For large teams and volumes.",
    features: ["Everything in Growth", "Higher limits on request"],
    prices: {
      USD: [299, 2_990],
      EUR: [279, 2_790],
      GBP: [239, 2_390],
      INR: [14_999, 149_990],
      BRL: [1_199, 11_990],
      JPY: [39_800, 398_000],
    },
  },
  {
    slug: "enterprise",
    name: "Enterprise",
    description: "For several organizations, or a service of your own.",
    features: ["Everything in Scale", "Several organizations", "Terms by agreement"],
    prices: null,
  },
];
