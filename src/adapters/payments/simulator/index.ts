/**
 * A simulated payment processor: orders, payments, captures and refunds as on the real processor, and
 * controls for the payer.
 *
 * The data of checkout and of the webhook is signed as by the real processor, with secrets derived from the
 * secret in the database. All data is in the database, so the simulator works across restarts and processes.
 */
import { z } from "zod";
import { newId } from "../../../database/id.ts";
import type { PaymentCallbacks, PaymentKey, PaymentProcessor } from "../../../ports/payments.ts";
import { type ControlRoute, createRouteFactory } from "../../channel/simulator/index.ts";
import { checkoutMessage, isSignature, sign } from "../signature.ts";
import { readWebhook, writeWebhook } from "../webhook.ts";
import {
  addRefund,
  type ControlParts,
  PaymentInput,
  pay,
  Refund,
  refundOrder,
  type SimulatedProcessorParts,
} from "./controls.ts";
import { insertOrder, lockSimulatedOrder, readPayments, updatePayment } from "./store.ts";

export type { SimulatedProcessorParts } from "./controls.ts";

export function openSimulatedProcessor(
  parts: SimulatedProcessorParts,
  callbacks: PaymentCallbacks,
): { readonly payments: PaymentProcessor; readonly routes: readonly ControlRoute[] } {
  const keySecret = sign(parts.generatedSecret, "simulated payments: checkout");
  const webhookSecret = sign(parts.generatedSecret, "simulated payments: webhook");
  const controls: ControlParts = {
    ...parts,
    keySecret,
    async notify(event, { id, order_id }) {
      const content = { event, payload: { payment: { entity: { id, order_id } } } };
      await callbacks.onPaymentWebhook(writeWebhook(webhookSecret, newId("evt", parts.now()), content));
    },
  };
  return {
    payments: createSimulatedProcessor(parts, { keySecret, webhookSecret }),
    routes: createControlRoutes(controls),
  };
}

function createSimulatedProcessor(
  { database, now }: SimulatedProcessorParts,
  { keySecret, webhookSecret }: { readonly keySecret: string; readonly webhookSecret: string },
): PaymentProcessor {
  const { queries } = database;
  const find = async (key: PaymentKey) => {
    const { organization_id, payment_id } = key;
    return (await readPayments(queries, { organization_id, payment_id }))[0];
  };
  const get = async (key: PaymentKey) => {
    const payment = await find(key);
    if (!payment) {
      throw new Error("The simulated processor has no such payment.");
    }
    return payment;
  };
  return {
    name: "simulator",
    isSimulated: true,
    keyId: "simulated_key",
    minimumOf: () => 1,
    async createOrder(order) {
      const id = newId("order", now());
      return { outcome: "created", order_id: await insertOrder(queries, order, { id, now: now() }) };
    },
    findPayment: find,
    listPayments: ({ organization_id, order_id }) => readPayments(queries, { organization_id, order_id }),
    async capture(key) {
      const { organization_id, payment_id: id } = key;
      await updatePayment(queries, { organization_id, id }, { status: "captured", from: ["authorized"] });
      return get(key);
    },
    async refund({ organization_id, payment_id, amount }) {
      const { order_id } = await get({ organization_id, payment_id });
      await database.transaction(async (tx) => {
        await lockSimulatedOrder(tx, organization_id, order_id ?? "");
        const [payment] = await readPayments(tx, { organization_id, payment_id });
        if (!payment || payment.amount_refunded + amount > payment.amount) {
          throw new Error("The simulated processor refuses to refund more than was paid.");
        }
        await addRefund(tx, organization_id, { payment, amount });
      });
    },
    isSignedByCheckout: ({ order_id, payment_id, signature }) =>
      isSignature(keySecret, checkoutMessage(order_id, payment_id), signature),
    readWebhook: (request) => readWebhook(webhookSecret, request),
  };
}

function createControlRoutes(controls: ControlParts): readonly ControlRoute[] {
  const route = createRouteFactory(controls, { read: "tokens:read", write: "tokens:create" });
  return [
    route("POST", "/simulator/payments/{order_id}/pay", {
      name: "pay_simulated_order",
      title: "Pay as a customer",
      description: "Pay an order at the simulated processor. The answer is what checkout would return.",
      body: { schema: PaymentInput, example: { outcome: "captured" } },
      response: {
        status: 201,
        body: z.object({
          data: z.object({
            processor_order_id: z.string(),
            processor_payment_id: z.string(),
            processor_signature: z.string(),
          }),
        }),
      },
      async handle(parts, { organization_id, params, body }) {
        const { order_id = "" } = params;
        return { status: 201, body: { data: await pay(parts, { organization_id, order_id, body }) } };
      },
    }),
    route("POST", "/simulator/payments/{order_id}/refund", {
      name: "refund_simulated_payment",
      title: "Refund at the processor",
      description: "Refund a payment, as the owner of the simulated processor's account.",
      body: { schema: Refund, example: { amount_minor: 500 } },
      response: {
        status: 201,
        body: z.object({
          data: z.object({
            processor_payment_id: z.string(),
            status: z.string(),
            amount_refunded_minor: z.int(),
          }),
        }),
      },
      async handle(parts, { organization_id, params, body }) {
        const { order_id = "" } = params;
        return { status: 201, body: { data: await refundOrder(parts, { organization_id, order_id, body }) } };
      },
    }),
  ];
}
