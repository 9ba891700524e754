/**
 * Verifies a payment with the values that checkout returned, and credits the wallet.
 *
 * The signature contains the id of the stored order, and proves only that checkout made the values: the
 * payment itself is read at the processor. All steps may be repeated, so a call whose process died is run
 * again.
 */
import { z } from "zod";
import type { Failure } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { type OutwardContext, outward } from "../../foundation/kernel/index.ts";
import { readWallet } from "../wallet/index.ts";
import { fromMinor } from "./amounts.ts";
import { findOrder, type OrderKey, readOrder } from "./orders.ts";
import { callProcessor, captureIfOpen } from "./processor.ts";
import { settlePayment } from "./settle.ts";
import { fits, type OrderRow, type PaymentRow } from "./states.ts";

const Intent = z.object({ order_id: z.string(), payment_id: z.string() });
type Intent = z.infer<typeof Intent>;

interface Checkout {
  readonly processor_order_id: string;
  readonly processor_payment_id: string;
  readonly processor_signature: string;
}

export const verifyPayment = outward({
  intent: Intent,

  async begin(checkout: Checkout, { tx, world, organization }): Promise<Intent> {
    const { processor_order_id, processor_payment_id: payment_id, processor_signature: signature } = checkout;
    const order = await findOrder(tx, world, { organization, order_id: processor_order_id });
    if (!order || order.processor_order_id === null) {
      throw fail("payment_order_not_found", { value: processor_order_id, param: "processor_order_id" });
    }
    const signed = { order_id: order.processor_order_id, payment_id, signature };
    if (!world.payments.isSignedByCheckout(signed)) {
      throw fail("invalid_signature", { param: "processor_signature" });
    }
    return { order_id: order.id, payment_id };
  },

  call: verify,
  find: verify,

  async record(payment, _, { tx, world, organization }) {
    const wallet = await readWallet(tx, world, organization);
    const { isSimulated: simulated } = world.payments;
    const { balance: new_balance } = simulated ? wallet.simulated : wallet;
    const { status, currency } = payment;
    const amount = fromMinor(payment.amount, currency);
    const message = describe(payment, simulated);
    return { data: { status, amount, currency, new_balance, simulated, message } };
  },
});

/** @throws Failure if the payment is not credited. */
async function verify(intent: Intent, { world, organization }: OutwardContext): Promise<PaymentRow> {
  const key = { organization_id: organization, id: intent.order_id };
  const order = await readOrder(world.database.queries, key);
  const credited = await readCredited(order, intent, { world });
  if (credited) {
    return credited;
  }
  const payment = await readAndSettle(intent, { world, key, order });
  if (payment.disposition === "credited") {
    return payment;
  }
  throw await explain(payment, { world, key });
}

/** The payment, if it has already been credited. */
async function readCredited(
  { organization_id, id: order_id }: OrderRow,
  { payment_id }: Intent,
  { world }: Pick<OutwardContext, "world">,
): Promise<PaymentRow | undefined> {
  return ofOrganization(world.database.queries, organization_id)
    .selectFrom("payments")
    .selectAll()
    .where("order_id", "=", order_id)
    .where("processor_payment_id", "=", payment_id)
    .where("disposition", "=", "credited")
    .executeTakeFirst();
}

async function readAndSettle(
  { payment_id }: Intent,
  { world, key, order }: Pick<OutwardContext, "world"> & { readonly key: OrderKey; readonly order: OrderRow },
): Promise<PaymentRow> {
  const { organization_id } = key;
  const found = await callProcessor(world, (processor, signal) =>
    processor.findPayment({ organization_id, payment_id }, signal),
  );
  if (!found || !fits(order, found)) {
    throw fail("payment_mismatch", { payment_id });
  }
  return settlePayment(world, key, await captureIfOpen(world, order, found));
}

/** Explains why a payment was not credited. */
async function explain(
  { processor_payment_id: payment_id, disposition, status }: PaymentRow,
  { world, key }: Pick<OutwardContext, "world"> & { readonly key: OrderKey },
): Promise<Failure> {
  const order = await readOrder(world.database.queries, key);
  // An authorized payment of a paid order is not captured, so the processor returns it.
  const isSecond = disposition === "surplus" || (order.status === "paid" && status === "authorized");
  return isSecond
    ? fail("order_already_paid", { payment_id, paid_by: order.paid_by })
    : fail("payment_not_captured", { payment_id, payment_status: status });
}

function describe({ status, amount_refunded, amount, currency }: PaymentRow, simulated: boolean): string {
  if (status === "refunded") {
    return "The payment was credited, and refunded later.";
  }
  const paid = `${fromMinor(amount, currency)} ${currency}`;
  const refunded = `${fromMinor(amount_refunded, currency)} ${currency}`;
  return amount_refunded > 0
    ? `${paid} was credited, of which ${refunded} was refunded later.`
    : simulated
      ? `${paid} of simulated money was credited: only simulated inboxes spend it.`
      : `${paid} was credited to the wallet.`;
}
