/** Calls the payment processor, with a time limit and one error for all its failures. */
import { fail } from "../../../../tools/errors.ts";
import type { PaymentProcessor, ProcessorPayment } from "../../../ports/payments.ts";
import type { World } from "../../foundation/kernel/index.ts";
import { fits, type OrderRow } from "./states.ts";

/** The limit of all attempts at one step. A caller waits at most 30 s for a response. */
const stepTimeoutMs = 12_000;

/** @throws Failure `payment_processor_unavailable` whose cause is the processor's error. */
export async function callProcessor<Result>(
  world: World,
  call: (processor: PaymentProcessor, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  try {
    return await call(world.payments, AbortSignal.timeout(stepTimeoutMs));
  } catch (error) {
    world.log.warn({ err: error, processor: world.payments.name }, "The payment processor could not be used");
    throw fail("payment_processor_unavailable", {}, error);
  }
}

/** Captures an authorized payment if it would be credited. */
export async function captureIfOpen(
  world: World,
  order: OrderRow,
  payment: ProcessorPayment,
): Promise<ProcessorPayment> {
  const { organization_id } = order;
  if (payment.status !== "authorized" || order.status === "paid" || !fits(order, payment)) {
    return payment;
  }
  const { id: payment_id, amount, currency } = payment;
  return callProcessor(world, (processor, signal) =>
    processor.capture({ organization_id, payment_id, amount, currency }, signal),
  );
}
