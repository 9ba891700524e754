/**
 * The payment processor Razorpay, by its REST API.
 *
 * Razorpay has no idempotency keys for orders. So each order has its own receipt, `unique_receipt` requests
 * one order per receipt, and before a creation is repeated the order is looked up by its receipt. A capture
 * is repeated only while the payment is still authorized. A refund is requested once: the caller reads the
 * payment before it tries again.
 */
import type { z } from "zod";
import type {
  NewOrder,
  OrderResult,
  PaymentKey,
  PaymentProcessor,
  ProcessorPayment,
} from "../../../ports/payments.ts";
import { parseForm, repeatAfterErrors } from "../../http-client/index.ts";
import { checkoutMessage, isSignature } from "../signature.ts";
import { readWebhook } from "../webhook.ts";
import { Order, OrderList, PaymentEntity, PaymentList } from "./entities.ts";
import { type ApiAnswer, type ApiRequest, askRazorpay, type RazorpaySettings } from "./http.ts";

export type { RazorpaySettings } from "./http.ts";

/** The wait after the first attempt at a request. */
const firstWaitMs = 100;

/**
 * The smallest order in rupees is one rupee. For other currencies, the processor itself checks the amount.
 */
const minimums: Readonly<Record<string, number>> = { INR: 100 };

export function createRazorpay(settings: RazorpaySettings): PaymentProcessor {
  return {
    name: "razorpay",
    isSimulated: false,
    keyId: settings.keyId,
    minimumOf: (currency) => minimums[currency] ?? 1,
    createOrder: (order, signal) => createOrder(settings, order, signal),
    findPayment: ({ payment_id }, signal) => findPayment(settings, payment_id, signal),
    async listPayments({ order_id }, signal) {
      const answer = await read(settings, `/orders/${segment(order_id)}/payments`, signal);
      return answer.outcome === "refused" ? [] : parse(PaymentList, answer.value).items;
    },
    capture: (payment, signal) => capture(settings, payment, signal),
    async refund({ payment_id, amount, receipt }, signal) {
      const path = `/payments/${segment(payment_id)}/refund`;
      accept(await askRazorpay(settings, { method: "POST", path, body: { amount, receipt } }, signal));
    },
    isSignedByCheckout: ({ order_id, payment_id, signature }) =>
      isSignature(settings.keySecret, checkoutMessage(order_id, payment_id), signature),
    readWebhook: (request) => readWebhook(settings.webhookSecret, request),
  };
}

async function createOrder(
  settings: RazorpaySettings,
  order: NewOrder,
  signal: AbortSignal,
): Promise<OrderResult> {
  const create = async (attempt: number): Promise<OrderResult> => {
    const found = attempt > 1 || order.isRepeated ? await findOrder(settings, order, signal) : undefined;
    if (found !== undefined) {
      return { outcome: "created", order_id: found };
    }
    const answer = await postOrder(settings, order, signal);
    return answer.outcome === "refused"
      ? answer
      : { outcome: "created", order_id: parse(Order, answer.value).id };
  };
  return repeatAfterErrors(firstWaitMs, create, signal);
}

async function postOrder(settings: RazorpaySettings, order: NewOrder, signal: AbortSignal) {
  const { organization_id, receipt, amount, currency } = order;
  const body = { amount, currency, receipt, notes: { organization_id } };
  const post = (more: object) =>
    askRazorpay(settings, { method: "POST", path: "/orders", body: { ...body, ...more } }, signal);
  const answer = await post({ unique_receipt: true });
  // Accounts of some countries do not have this field, and refuse unknown fields.
  const isUnknownField = answer.outcome === "refused" && answer.reason.includes("unique_receipt");
  return isUnknownField ? post({}) : answer;
}

/** The id of the order with this receipt. */
async function findOrder(
  settings: RazorpaySettings,
  { receipt, amount, currency }: NewOrder,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = `/orders?receipt=${encodeURIComponent(receipt)}`;
  const { items } = parse(OrderList, accept(await askRazorpay(settings, { method: "GET", path }, signal)));
  return items.find((one) => one.receipt === receipt && one.amount === amount && one.currency === currency)
    ?.id;
}

async function findPayment(
  settings: RazorpaySettings,
  payment_id: string,
  signal: AbortSignal,
): Promise<ProcessorPayment | undefined> {
  const answer = await read(settings, `/payments/${segment(payment_id)}`, signal);
  return answer.outcome === "refused" ? undefined : parse(PaymentEntity, answer.value);
}

/**
 * Captures a payment. If another process captures it at the same time, the request is refused, but the
 * payment is captured.
 */
async function capture(
  settings: RazorpaySettings,
  { payment_id, amount, currency }: PaymentKey & { readonly amount: number; readonly currency: string },
  signal: AbortSignal,
): Promise<ProcessorPayment> {
  const request: ApiRequest = {
    method: "POST",
    path: `/payments/${segment(payment_id)}/capture`,
    body: { amount, currency },
  };
  const captureOnce = async (attempt: number): Promise<ProcessorPayment> => {
    const before = attempt > 1 ? await findPayment(settings, payment_id, signal) : undefined;
    if (before && before.status !== "authorized") {
      return before;
    }
    const answer = await askRazorpay(settings, request, signal);
    if (answer.outcome === "accepted") {
      return parse(PaymentEntity, answer.value);
    }
    const after = await findPayment(settings, payment_id, signal);
    if (!after || after.status === "authorized") {
      throw new Error(`The payment processor refused a capture: ${answer.reason}`);
    }
    return after;
  };
  return repeatAfterErrors(firstWaitMs, captureOnce, signal);
}

function read(settings: RazorpaySettings, path: string, signal: AbortSignal): Promise<ApiAnswer> {
  return repeatAfterErrors(firstWaitMs, () => askRazorpay(settings, { method: "GET", path }, signal), signal);
}

function accept(answer: ApiAnswer): unknown {
  if (answer.outcome === "refused") {
    throw new Error(`The payment processor refused a request: ${answer.reason}`);
  }
  return answer.value;
}

/** @throws Error if the value has another form. */
function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  return parseForm("The payment processor", schema, value);
}

/** An id as a path segment. @throws Error for characters that ids of the processor never have. */
function segment(id: string): string {
  if (!/^[\w-]+$/.test(id)) {
    throw new Error("An id has characters that no id of the payment processor has.");
  }
  return id;
}
