/** Payments: orders for top-ups of the wallet, and the payments that filled it. Not built yet. */
import { z } from "zod";
import { one, operation, page, pageSize, timestamp } from "./contract/index.ts";

export const paymentStatuses = ["created", "authorized", "captured", "failed", "refunded"] as const;

const Payment = z.object({
  id: z.string(),
  processor_order_id: z.string(),
  processor_payment_id: z.string().nullable(),
  amount: z.number(),
  currency: z.string(),
  status: z.enum(paymentStatuses),
  created_at: timestamp,
});

const reference = z.string().min(1).max(255);

export const payments = {
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
};
