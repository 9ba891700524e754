/**
 * The controls of the simulated processor: the actions of the payer, and of the owner of the processor's
 * account.
 */
import { z } from "zod";
import type { Database, DatabaseTransaction } from "../../../database/database.ts";
import { newId } from "../../../database/id.ts";
import type { ProcessorPayment } from "../../../ports/payments.ts";
import { ControlInputError, parseControlInput, textField } from "../../channel/simulator/index.ts";
import { checkoutMessage, sign } from "../signature.ts";
import { insertPayment, lockSimulatedOrder, readPayments, updatePayment } from "./store.ts";

export interface SimulatedProcessorParts {
  readonly database: Database;
  readonly now: () => Date;
  /** The same secret in every process of the database. */
  readonly generatedSecret: string;
}

const flag = z.boolean("Send true or false.");
const outcomes = ["captured", "failed", "authorized"] as const;

export const PaymentInput = z.strictObject(
  {
    outcome: z.enum(outcomes, "Send captured, failed or authorized.").default("captured"),
    payment_id: textField(64).optional().describe("Changes this payment; by default there is a new one"),
    webhook: flag.default(true).describe("Whether the webhook is sent"),
  },
  "Send an object.",
);

const amountMessage = "Send a whole number from 1, in the smallest unit of the currency.";

export const Refund = z.strictObject(
  {
    payment_id: textField(64).optional().describe("By default the captured payment of the order"),
    amount_minor: z
      .int(amountMessage)
      .min(1, amountMessage)
      .optional()
      .describe("By default what is not refunded"),
    webhook: flag.default(true).describe("Whether the webhook is sent"),
  },
  "Send an object.",
);

export interface ControlParts extends SimulatedProcessorParts {
  readonly keySecret: string;
  /** Sends the notification that the processor would send about this payment. */
  notify(event: string, payment: ProcessorPayment): Promise<void>;
}

/** Pays the order and returns what checkout would return. @throws ControlInputError */
export async function pay(
  { keySecret, notify, ...parts }: ControlParts,
  { organization_id, order_id, body }: ControlInput,
) {
  const { outcome, payment_id, webhook } = parseControlInput(PaymentInput, body);
  const id = payment_id ?? newId("pay", parts.now());
  const payment = await withOrder(parts, { organization_id, order_id }, async (tx) => {
    if (payment_id === undefined) {
      const created_at = parts.now().toISOString();
      await insertPayment(tx, { organization_id, id, order_id, status: outcome, created_at });
    } else {
      await changePayment(tx, { organization_id, order_id, id, outcome });
    }
    return (await readPayments(tx, { organization_id, payment_id: id }))[0];
  });
  if (webhook && payment) {
    await notify(`payment.${outcome}`, payment);
  }
  return {
    processor_order_id: order_id,
    processor_payment_id: id,
    processor_signature: sign(keySecret, checkoutMessage(order_id, id)),
  };
}

interface PaymentOutcome {
  readonly organization_id: string;
  readonly order_id: string;
  readonly id: string;
  readonly outcome: (typeof outcomes)[number];
}

/** The statuses from which each outcome can follow: a failed payment may be authorized late. */
const before = {
  failed: [],
  authorized: ["failed"],
  captured: ["failed", "authorized"],
} as const;

/** @throws ControlInputError if the order has no such payment, or the outcome can't follow. */
async function changePayment(
  tx: DatabaseTransaction,
  { organization_id, order_id, id, outcome }: PaymentOutcome,
): Promise<void> {
  const from: readonly (typeof outcomes)[number][] = before[outcome];
  const payments = await readPayments(tx, { organization_id, order_id });
  const isChangeable = payments.some((one) => one.id === id && from.some((status) => status === one.status));
  if (!isChangeable || !(await updatePayment(tx, { organization_id, id }, { status: outcome, from }))) {
    throw new ControlInputError("payment_id", `The order has no payment that could be ${outcome} now.`);
  }
}

/** Refunds a payment like the owner of the processor's account. @throws ControlInputError */
export async function refundOrder(
  { notify, ...parts }: ControlParts,
  { organization_id, order_id, body }: ControlInput,
) {
  const { payment_id, amount_minor, webhook } = parseControlInput(Refund, body);
  const refunded = await withOrder(parts, { organization_id, order_id }, async (tx) => {
    const payments = await readPayments(tx, { organization_id, order_id });
    const payment = payments.find(({ id, status }) =>
      payment_id === undefined ? status === "captured" : id === payment_id,
    );
    const left = payment?.status === "captured" ? payment.amount - payment.amount_refunded : 0;
    if (!payment || left === 0) {
      throw new ControlInputError("payment_id", "The order has no such payment with money to refund.");
    }
    if ((amount_minor ?? left) > left) {
      throw new ControlInputError("amount_minor", `At most ${left} can be refunded.`);
    }
    await addRefund(tx, organization_id, { payment, amount: amount_minor ?? left });
    return (await readPayments(tx, { organization_id, payment_id: payment.id }))[0];
  });
  if (webhook && refunded) {
    await notify("refund.processed", refunded);
  }
  return {
    processor_payment_id: refunded?.id,
    status: refunded?.status,
    amount_refunded_minor: refunded?.amount_refunded,
  };
}

/** The order of the payment must be locked. */
export async function addRefund(
  tx: DatabaseTransaction,
  organization_id: string,
  { payment, amount }: { readonly payment: ProcessorPayment; readonly amount: number },
): Promise<void> {
  const amount_refunded = payment.amount_refunded + amount;
  const status = amount_refunded === payment.amount ? ("refunded" as const) : ("captured" as const);
  const change = { status, amount_refunded, from: ["captured"] as const };
  await updatePayment(tx, { organization_id, id: payment.id }, change);
}

interface ControlInput {
  readonly organization_id: string;
  readonly order_id: string;
  readonly body: unknown;
}

/** @throws ControlInputError if the organization has no such order. */
function withOrder<Result>(
  { database }: SimulatedProcessorParts,
  { organization_id, order_id }: Omit<ControlInput, "body">,
  work: (tx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (tx) => {
    if (!(await lockSimulatedOrder(tx, organization_id, order_id))) {
      throw new ControlInputError(
        "order_id",
        "There is no such order. Send the order_id of a payment order.",
      );
    }
    return work(tx);
  });
}
