/** Opens the payment processor from the settings; without settings, the simulated processor. */
import type { PaymentCallbacks, PaymentProcessor } from "../../ports/payments.ts";
import type { ControlRoute } from "../channel/simulator/index.ts";
import { createRazorpay, type RazorpaySettings } from "./razorpay/index.ts";
import { openSimulatedProcessor, type SimulatedProcessorParts } from "./simulator/index.ts";

interface PaymentsOptions extends SimulatedProcessorParts {
  readonly callbacks: PaymentCallbacks;
  /** Undefined if payments are simulated. */
  readonly razorpay: RazorpaySettings | undefined;
}

export interface OpenPayments {
  readonly payments: PaymentProcessor;
  /** The routes that control the simulated processor. */
  readonly routes: readonly ControlRoute[];
}

export function openPayments({ razorpay, callbacks, ...parts }: PaymentsOptions): OpenPayments {
  return razorpay
    ? { payments: createRazorpay(razorpay), routes: [] }
    : openSimulatedProcessor(parts, callbacks);
}
