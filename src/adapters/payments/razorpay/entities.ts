/**
 * The parts of Razorpay's answers that are used. E-mail addresses, phone numbers and cards are never read.
 */
import { z } from "zod";
import type { ProcessorPayment } from "../../../ports/payments.ts";

/** In the smallest unit of the currency. */
const amount = z.int().min(0);

export const Order = z.object({
  id: z.string().min(1).max(255),
  receipt: z.string().nullish(),
  amount,
  currency: z.string(),
});

export const OrderList = z.object({ items: z.array(Order) });

export const PaymentEntity = z
  .object({
    id: z.string().min(1).max(255),
    order_id: z.string().nullish(),
    amount,
    currency: z.string(),
    status: z.enum(["created", "authorized", "captured", "refunded", "failed"]),
    captured: z.boolean().nullish(),
    amount_refunded: amount.nullish(),
    /** In seconds. */
    created_at: z.int().min(0),
  })
  .transform(
    ({ order_id, captured, amount_refunded, created_at, ...payment }): ProcessorPayment => ({
      ...payment,
      order_id: order_id ?? null,
      is_captured: captured === true || payment.status === "captured",
      amount_refunded: amount_refunded ?? 0,
      created_at: new Date(created_at * 1000),
    }),
  );

export const PaymentList = z.object({ items: z.array(PaymentEntity) });
