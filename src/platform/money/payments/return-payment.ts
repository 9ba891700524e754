/**
 * The job that returns a second payment of a paid order to its payer.
 *
 * The job may run again after a crash: it reads the payment first, and the processor refunds no more than was
 * paid.
 */
import { defineJob } from "../../foundation/kernel/index.ts";
import { readOrder } from "./orders.ts";
import { callProcessor } from "./processor.ts";
import { returnPaymentType, settlePayment } from "./settle.ts";

export const returnPaymentJob = defineJob({
  ...returnPaymentType,
  /**
   * Attempts over about nine hours, because the account at the processor may have too little money at first.
   */
  maxAttempts: 20,

  async run({ organization_id, order_id, processor_payment_id: payment_id }, world) {
    const order = await readOrder(world.database.queries, { organization_id, id: order_id });
    const key = { organization_id, payment_id };
    const read = () => callProcessor(world, (processor, signal) => processor.findPayment(key, signal));
    const payment = order.processor === world.payments.name ? await read() : null;
    if (!payment) {
      throw new Error(`${world.payments.name} does not know the payment, which ${order.processor} took.`);
    }
    const amount = payment.amount - payment.amount_refunded;
    if (amount > 0) {
      await callProcessor(world, (processor, signal) =>
        processor.refund({ ...key, amount, receipt: `${order_id}-return` }, signal),
      );
    }
    const refunded = await read();
    if (refunded) {
      await settlePayment(world, { organization_id, id: order_id }, refunded);
    }
    return undefined;
  },

  async exhausted({ organization_id, order_id, processor_payment_id: payment }, { log }) {
    const facts = { organization_id, order: order_id, payment };
    log.error(facts, "A second payment of a paid order could not be returned: refund it at the processor");
  },
});
