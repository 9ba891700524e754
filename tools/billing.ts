/**
 * Billing: the organization's plan, and the chatbot add-on. Payments are in payments.ts, the wallet in
 * wallet.ts.
 */
import { z } from "zod";
import { all, type ErrorEntry, errorEntry, one, operation, timestamp, yes } from "./contract/index.ts";
import { money } from "./money.ts";
import { currency } from "./organization.ts";
import { planSlugs } from "./pricing.ts";

export const subscriptionStatuses = ["trialing", "active", "cancelled"] as const;

export const billingCycles = ["monthly", "annual"] as const;
export type BillingCycle = (typeof billingCycles)[number];

export const billingUnits = ["per_message", "per_session"] as const;
export type BillingUnit = (typeof billingUnits)[number];

export const addonStatuses = ["trialing", "active", "grace", "suspended", "cancelled"] as const;
export type AddonStatus = (typeof addonStatuses)[number];

/** What every chatbot add-on includes. */
export const addonTerms = { trialUnits: 100, gracePeriodDays: 7 } as const;

const Subscription = z.object({
  id: z.string(),
  plan_type: z.enum(planSlugs),
  status: z.enum(subscriptionStatuses),
  billing_cycle: z.enum(billingCycles),
  current_period_start: timestamp,
  current_period_end: timestamp,
  cancel_at_period_end: z.boolean(),
  is_trialing: z.boolean(),
  days_until_expiry: z.int(),
});

const Addon = z.object({
  id: z.string(),
  addon_type: z.literal("chatbot"),
  status: z.enum(addonStatuses),
  billing_unit: z.enum(billingUnits),
  cost_per_unit: z.number(),
  monthly_fee: z.number(),
  trial_units_remaining: z.int(),
  grace_period_days: z.int(),
  /** The end of the current billing period; null once the add-on is cancelled. */
  next_billing_date: timestamp.nullable(),
  activated_at: timestamp,
});

const WholeAddon = Addon.extend({
  /** The currency of the prices. */
  currency: z.string(),
  /** Null unless the wallet could not pay. At this time the add-on is suspended. */
  grace_ends_at: timestamp.nullable(),
  /** Null unless the add-on is cancelled. Until this time it works and is charged. */
  ends_at: timestamp.nullable(),
});

export const billing = {
  get_subscription: operation({
    method: "GET",
    path: "/v1/billing/subscription",
    scope: "tokens:read",
    title: "Get subscription",
    description: "Get the organization's plan, its status and billing period. get_pricing lists all plans.",
    input: z.object({}),
    output: one(Subscription),
  }),

  subscribe_chatbot_addon: operation({
    method: "POST",
    path: "/v1/billing/addons/chatbot/subscribe",
    scope: "tokens:create",
    failures: [402],
    title: "Subscribe chatbot add-on",
    description: "Start the paid chatbot add-on, at first as a trial.",
    input: z.object({
      billing_unit: z.enum(billingUnits).describe("What is charged for"),
      cost_per_unit: money.min(0).describe("Price of one unit"),
      monthly_fee: money.min(0).default(0).describe("Price of one month"),
    }),
    output: one(Addon),
    status: 201,
    hints: {
      destructive: yes("What it charges is not returned."),
      idempotent: yes("An organization has one add-on: a second call is rejected."),
    },
  }),

  cancel_chatbot_addon: operation({
    method: "DELETE",
    path: "/v1/billing/addons/chatbot/subscribe",
    scope: "tokens:create",
    failures: [404],
    title: "Cancel chatbot add-on",
    description: "Cancel the chatbot add-on. Charges stop at the end of the billing period.",
    input: z.object({}),
    output: one(Addon.pick({ id: true, addon_type: true, status: true })),
    hints: {
      destructive: yes("A cancelled add-on can't be continued, and a new one has no trial."),
      idempotent: yes("A cancelled add-on stays cancelled."),
    },
  }),

  get_chatbot_addon: operation({
    method: "GET",
    path: "/v1/billing/addons/chatbot",
    scope: "tokens:read",
    failures: [404],
    title: "Get chatbot add-on",
    description:
      "Get the chatbot add-on, also a cancelled one: its status, prices, the rest of its trial, and when it is billed or ends.",
    input: z.object({}),
    output: one(WholeAddon),
    tier: "extended",
  }),
};

const organizationId = z.string().min(1).max(64).describe("Organization id, from list_organizations");

const price = money.min(0);

const MinimumPrices = z.object({ currency: z.string(), per_message: z.number(), per_session: z.number() });

/** The operator's changes of plans and add-ons. */
export const operatorBilling = {
  find_subscription: operation({
    method: "GET",
    path: "/operator/v1/organizations/{id}/subscription",
    credential: "operator",
    scope: null,
    title: "Find subscription",
    description: "Get the plan of an organization and its billing period.",
    input: z.object({ id: organizationId }),
    output: one(Subscription),
    tools: {},
  }),

  update_subscription: operation({
    method: "PUT",
    path: "/operator/v1/organizations/{id}/subscription",
    credential: "operator",
    scope: null,
    title: "Update subscription",
    description:
      "Change the plan of an organization. Only the fields sent change. Another billing cycle, or the end of a cancellation, begins a new period. The plan is shown to the organization and limits nothing.",
    input: z.object({
      id: organizationId,
      plan_type: z.enum(planSlugs).optional().describe("A plan of GET /v1/pricing, by its slug"),
      status: z
        .enum(subscriptionStatuses)
        .optional()
        .describe("trialing: becomes active with the next period; cancelled: no further period begins"),
      billing_cycle: z.enum(billingCycles).optional(),
      cancel_at_period_end: z.boolean().optional().describe("true: it is cancelled when the period ends"),
    }),
    output: one(Subscription),
    tools: {},
  }),

  list_minimum_prices: operation({
    method: "GET",
    path: "/operator/v1/addons/chatbot/minimum-prices",
    credential: "operator",
    scope: null,
    title: "List minimum prices",
    description: "List the least that a unit of the chatbot add-on may cost, by currency.",
    input: z.object({}),
    output: all(MinimumPrices),
    tools: {},
  }),

  replace_minimum_prices: operation({
    method: "PUT",
    path: "/operator/v1/addons/chatbot/minimum-prices/{currency}",
    credential: "operator",
    scope: null,
    title: "Replace minimum prices",
    description:
      "Set the least that a unit of the chatbot add-on may cost for organizations with this currency. It applies to new subscriptions; without a minimum it is 0.",
    input: z.object({
      currency,
      per_message: price.default(0).describe("For add-ons that charge for each message"),
      per_session: price.default(0).describe("For add-ons that charge for each session"),
    }),
    output: one(MinimumPrices),
    tools: {},
  }),
};

export const billingErrors = {
  addon_exists: errorEntry(
    "conflict",
    409,
    "The organization has the chatbot add-on already.",
    "get_chatbot_addon (GET /v1/billing/addons/chatbot) shows it. To change its prices, cancel it first with cancel_chatbot_addon.",
  ),
  addon_not_found: errorEntry(
    "not_found",
    404,
    "The organization does not have the chatbot add-on.",
    "Start it with subscribe_chatbot_addon (POST /v1/billing/addons/chatbot/subscribe).",
  ),
  price_below_minimum: errorEntry(
    "business_rule",
    422,
    "A unit costs at least {minimum} {currency}.",
    "Send a cost_per_unit that is not lower.",
  ),
} as const satisfies Record<string, ErrorEntry>;
