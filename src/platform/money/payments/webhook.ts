/**
 * The processor's webhook: it checks the signature of an event, and a job reads the reported payment at the
 * processor.
 *
 * Events may be repeated, late and out of order, so nothing in the body is trusted: it only names an order or
 * a payment.
 */
import { fail } from "../../../../tools/errors.ts";
import type { PaymentEvent, WebhookRequest } from "../../../ports/payments.ts";
import {
  defineRetentionJob,
  type ModuleRoute,
  type Transaction,
  type World,
} from "../../foundation/kernel/index.ts";
import { newSyncJob, type SyncPayload } from "./sync.ts";

export const webhookRoute: ModuleRoute = {
  methods: ["POST"],
  path: "/webhooks/payments",
  credential: "none",
  body: "raw",
  // The processor sends all events from a few addresses; a forged event is rejected without a query.
  isRateLimited: false,
  limitsRejections: true,

  async handle({ headers, body }, world) {
    await receivePaymentWebhook(world, { headers, body });
    return { status: 200, body: { received: true } };
  },
};

/** Resolves when the event is stored. @throws Failure `invalid_signature`. */
export async function receivePaymentWebhook(world: World, request: WebhookRequest): Promise<void> {
  const event = world.payments.readWebhook(request);
  if (event === "forged") {
    throw fail("invalid_signature");
  }
  if (event) {
    await world.database.transaction((tx) => storeEvent(tx, world, event));
  }
}

/** An event changes nothing if its order is unknown, or if the event has been received before. */
async function storeEvent(tx: Transaction, world: World, event: PaymentEvent): Promise<void> {
  const payload = await findTarget(tx, world, event);
  if (!payload) {
    return;
  }
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("payment_events")
    .values({
      organization_id: payload.organization_id,
      event_id: event.id,
      received_at: world.now().toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows) {
    await tx.enqueue([newSyncJob(payload)]);
  }
}

/** The processor does not know organizations: the event belongs to the organization of its order. */
async function findTarget(
  tx: Transaction,
  { payments }: World,
  { order_id, payment_id }: PaymentEvent,
): Promise<SyncPayload | undefined> {
  const only = payment_id === null ? {} : { processor_payment_id: payment_id };
  if (order_id !== null) {
    const order = await tx
      .selectFrom("payment_orders")
      .select(["organization_id", "id as order_id"])
      .where("processor_order_id", "=", order_id)
      .where("processor", "=", payments.name)
      .executeTakeFirst();
    return order && { ...order, ...only };
  }
  const payment = await tx
    .selectFrom("payments")
    .select(["organization_id", "order_id"])
    .where("processor_payment_id", "=", payment_id ?? "")
    .executeTakeFirst();
  return payment && { ...payment, ...only };
}

/** The processor repeats an event for a day. A repeated event has the same effect, stored or not. */
export const deletePaymentEventsJob = defineRetentionJob({
  name: "payment-event.forget",
  schedule: "37 * * * *",
  rules: [{ table: "payment_events", column: "received_at", days: 7 }],
});
