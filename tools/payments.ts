/** Payments: top-ups of the wallet, which a person pays in the checkout of the payment processor. */
import { z } from "zod";
import {
  type ErrorEntry,
  errorEntry,
  no,
  one,
  operation,
  page,
  pageSize,
  timestamp,
  yes,
} from "./contract/index.ts";

/** failed: the processor may still authorize the payment; refunded: the whole amount was returned. */
export const paymentStatuses = ["created", "authorized", "captured", "failed", "refunded"] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

/** In units of a currency. */
const maxAmount = 1_000_000_000;

const Payment = z.object({
  id: z.string(),
  processor_order_id: z.string(),
  processor_payment_id: z.string(),
  amount: z.number(),
  currency: z.string(),
  status: z.enum(paymentStatuses),
  /** The part of the amount that was returned to the payer. */
  amount_refunded: z.number(),
  created_at: timestamp,
});

const reference = z.string().min(1).max(255);

export const payments = {
  create_payment_order: operation({
    method: "POST",
    path: "/v1/billing/payments/orders",
    scope: "tokens:create",
    effect: "outward",
    title: "Create payment order",
    description:
      "Create an order for a wallet top-up, which a person pays in the processor's checkout. Credit the wallet afterwards with verify_payment.",
    input: z.object({
      amount: z
        .number()
        .positive()
        .refine((amount) => amount <= maxAmount, "Send at most 1000000000.")
        .describe("Greater than 0, in the organization's currency"),
    }),
    output: one(
      z.object({
        order_id: z.string(),
        amount: z.number(),
        currency: z.string(),
        processor_key_id: z.string(),
        /** Whether the payment moves no money. Only simulated inboxes can spend what it credits. */
        simulated: z.boolean(),
      }),
    ),
    status: 201,
    hints: {
      destructive: no("An order that nobody pays has no effect."),
      openWorld: yes("It creates the order at the payment processor."),
    },
  }),

  verify_payment: operation({
    method: "POST",
    path: "/v1/billing/payments/verify",
    scope: "tokens:create",
    effect: "outward",
    title: "Verify payment",
    description: "Credit the wallet with a payment, given what checkout returned.",
    input: z.object({
      processor_order_id: reference.describe("order_id of the payment order"),
      processor_payment_id: reference.describe("Payment id from checkout"),
      processor_signature: reference.describe("Signature from checkout"),
    }),
    output: one(
      z.object({
        status: z.enum(paymentStatuses),
        amount: z.number(),
        currency: z.string(),
        /** The balance of the money that was credited, real or simulated. */
        new_balance: z.number(),
        simulated: z.boolean(),
        message: z.string(),
      }),
    ),
    hints: {
      destructive: yes("A credit to the wallet can't be undone."),
      idempotent: yes("A payment is credited once."),
      openWorld: yes("It asks the payment processor."),
    },
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

export const paymentErrors = {
  amount_decimals: errorEntry(
    "invalid_request",
    400,
    "Amounts in {currency} have {rule}.",
    "Send an amount like {example}.",
  ),
  amount_below_minimum: errorEntry(
    "invalid_request",
    400,
    "The payment processor takes at least {minimum} {currency}.",
    "Send a larger amount.",
  ),
  currency_not_payable: errorEntry(
    "business_rule",
    422,
    "The payment processor takes no payments in {currency}.",
    "Ask the operator of this service to add money to the wallet.",
  ),
  payment_order_refused: errorEntry(
    "business_rule",
    422,
    "The payment processor refused the order: {reason}",
    "Correct the amount, or ask the operator of this service about the processor's account.",
  ),
  payment_order_not_found: errorEntry(
    "not_found",
    404,
    "There is no payment order {value}.",
    "Send the order_id that create_payment_order (POST /v1/billing/payments/orders) returned.",
  ),
  invalid_signature: errorEntry(
    "invalid_request",
    400,
    "The signature does not match the payment.",
    "Send the three values of one payment as checkout returned them.",
  ),
  payment_not_captured: errorEntry(
    "business_rule",
    422,
    "The payment {payment_id} is {payment_status} at the payment processor. Nothing was credited.",
    "Have the order paid again, unless the payer was charged: if the processor completes this payment later, the wallet is credited without another call.",
  ),
  order_already_paid: errorEntry(
    "conflict",
    409,
    "The order was already paid by {paid_by}. The second payment, {payment_id}, is not credited, and is returned to the payer.",
    "Create another order for another top-up. list_payments (GET /v1/billing/payments) shows the payments.",
  ),
  payment_mismatch: errorEntry(
    "conflict",
    409,
    "The payment {payment_id} is not of this order, or of another amount or currency. Nothing was credited.",
    "Ask the operator of this service, who finds the payment in the processor's account.",
  ),
  payment_processor_unavailable: errorEntry(
    "internal",
    503,
    "The payment processor could not be reached.",
    "Send the request again, with the same idempotency key: an order is not created twice, and no payment is credited twice.",
  ),
} as const satisfies Record<string, ErrorEntry>;

const PaymentChange = z.object({
  /** As in list_payments, which has the same fields. */
  payment_id: z.string(),
  processor_order_id: z.string(),
  processor_payment_id: z.string(),
  amount: z.number(),
  currency: z.string(),
  status: z.enum(paymentStatuses),
  amount_refunded: z.number(),
  /** Whether the payment moves no money. */
  simulated: z.boolean(),
});

export const paymentEvents = {
  "payment.captured": {
    scope: "tokens:read",
    /** credited: false for a payment that is returned to the payer, or is not of its order's amount. */
    data: PaymentChange.extend({ credited: z.boolean() }),
  },
  "payment.failed": { scope: "tokens:read", data: PaymentChange },
  "payment.refunded": { scope: "tokens:read", data: PaymentChange },
} as const;
