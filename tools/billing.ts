/** Billing: the plan, and the chatbot add-on. */
import { z } from "zod";
import { one, operation, timestamp } from "./contract/index.ts";

export const billingUnits = ["per_message", "per_session"] as const;
export const addonStatuses = ["trialing", "active", "grace", "suspended", "cancelled"] as const;

const Subscription = z.object({
  id: z.string(),
  plan_type: z.string(),
  status: z.string(),
  billing_cycle: z.string(),
  current_period_start: timestamp,
  current_period_end: timestamp,
  cancel_at_period_end: z.boolean(),
  is_trialing: z.boolean(),
  days_until_expiry: z.int(),
});

const Addon = z.object({
  id: z.string(),
  addon_type: z.string(),
  status: z.enum(addonStatuses),
  billing_unit: z.enum(billingUnits),
  cost_per_unit: z.number(),
  monthly_fee: z.number(),
  trial_units_remaining: z.int(),
  grace_period_days: z.int(),
  next_billing_date: timestamp.nullable(),
  activated_at: timestamp.nullable(),
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
    title: "Subscribe chatbot add-on",
    description:
      "Start the paid chatbot add-on, which begins with a trial. Cancel it with cancel_chatbot_addon.",
    input: z.object({
      billing_unit: z.enum(billingUnits).describe("What is charged for"),
      cost_per_unit: z.number().min(0).describe("Price of one unit"),
      monthly_fee: z.number().min(0).default(0).describe("Fixed monthly price"),
    }),
    output: one(Addon),
    status: 201,
    hints: { destructive: true },
  }),

  cancel_chatbot_addon: operation({
    method: "DELETE",
    path: "/v1/billing/addons/chatbot/subscribe",
    scope: "tokens:create",
    title: "Cancel chatbot add-on",
    description: "Cancel the chatbot add-on. Charges stop at the end of the billing period.",
    input: z.object({}),
    output: one(Addon.pick({ id: true, addon_type: true, status: true })),
  }),
};
