/** A payment processor for benchmarks that take no payments: nothing listens at its address. */
import { createRazorpay } from "../../src/adapters/payments/razorpay/index.ts";

export const unreachablePayments = createRazorpay({
  baseUrl: "http://127.0.0.1:1",
  keyId: "rzp_test_none",
  keySecret: "none",
  webhookSecret: "none",
});
