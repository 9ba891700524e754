/** Billing: the prepaid wallet and its payments, the plan, and the chatbot add-on. */
import { z } from "zod";
import { one, operation, page, pageSize, timestamp } from "./contract/index.ts";

export const paymentStatuses = ["created", "authorized", "captured", "failed", "refunded"] as const;
export const billingUnits = ["per_message", "per_session"] as const;
export const addonStatuses = ["trialing", "active", "grace", "suspended", "cancelled"] as const;

const Payment = z.object({
  id: z.string(),
  processor_order_id: z.string(),
  processor_payment_id: z.string().nullable(),
  amount: z.number(),
  currency: z.string(),
  status: z.enum(paymentStatuses),
  created_at: timestamp,
});

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

const reference = z.string().min(1).max(255);

export const billing = {
  create_payment_order: operation({
    method: "POST",
    path: "/v1/billing/payments/orders",
    scope: "tokens:create",
    title: "Create payment order",
    description:
      "Create an order for a wallet top-up, which a person pays in the processor's checkout. It charges nothing by itself. Credit the wallet afterwards with verify_payment.",
    input: z.object({
      amount: z.number().positive().describe("Greater than 0, in the organization's currency"),
    }),
    output: one(
      z.object({
        order_id: z.string(),
        amount: z.number(),
        currency: z.string(),
        processor_key_id: z.string(),
      }),
    ),
    status: 201,
    hints: { openWorld: true },
  }),

  verify_payment: operation({
    method: "POST",
    path: "/v1/billing/payments/verify",
    scope: "tokens:create",
    title: "Verify payment",
    description:
      "Credit the wallet with a payment, given the three values that checkout returned. Repeating the call does not credit it again.",
    input: z.object({
      processor_order_id: reference.describe("order_id of the payment order"),
      processor_payment_id: reference.describe("Payment id from checkout"),
      processor_signature: reference.describe("Signature from checkout"),
    }),
    output: one(
      z.object({
        status: z.string(),
        amount: z.number(),
        currency: z.string(),
        new_balance: z.number(),
        message: z.string(),
      }),
    ),
    hints: { idempotent: true, openWorld: true },
  }),

  list_payments: operation({
    method: "GET",
    path: "/v1/billing/payments",
    scope: "tokens:read",
    title: "List payments",
    description: "List the payments into the wallet, newest first.",
    input: z.object({ page, limit: pageSize(20) }),
    output: one(
      z.object({
        payments: z.array(Payment),
        pagination: z.object({
          page: z.int(),
          limit: z.int(),
          total: z.int(),
          total_pages: z.int(),
        }),
      }),
    ),
  }),

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
