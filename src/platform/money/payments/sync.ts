/**
 * Reads the payments of an order at the processor and settles them: when the webhook reports something, and
 * regularly.
 *
 * The reconciliation reads each order repeatedly until it is paid, and afterwards for refunds, less and less
 * often. So a payment is credited even if the browser closed before the verification and the webhook was
 * lost.
 */
import { sql } from "kysely";
import { z } from "zod";
import { columnsOf, recordset, rowsOf } from "../../../database/query/index.ts";
import { newJob } from "../../../jobs/job.ts";
import type { ProcessorPayment } from "../../../ports/payments.ts";
import {
  defineJob,
  defineScheduledJob,
  type Transaction,
  type World,
} from "../../foundation/kernel/index.ts";
import { nextCheckOf, type OrderKey, readOrder } from "./orders.ts";
import { callProcessor, captureIfOpen } from "./processor.ts";
import { settlePayment } from "./settle.ts";
import type { OrderRow } from "./states.ts";

const SyncPayload = z.object({
  organization_id: z.string(),
  order_id: z.string(),
  /** Only this payment; by default all payments of the order. */
  processor_payment_id: z.string().optional(),
});
export type SyncPayload = z.infer<typeof SyncPayload>;

export const syncPaymentsJob = defineJob({
  name: "payment.sync",
  payload: SyncPayload,

  async run({ organization_id, order_id, processor_payment_id }, world) {
    const key = { organization_id, id: order_id };
    const order = await readOrder(world.database.queries, key);
    // Another processor may be in use now, where the order does not exist.
    if (order.processor === world.payments.name) {
      for (const payment of await readPayments(world, order, processor_payment_id)) {
        await syncPayment(world, key, payment);
      }
    }
    return undefined;
  },
});

/** The job for an order. If such a job is waiting already, no second one is added. */
export function newSyncJob(payload: SyncPayload) {
  return newJob(syncPaymentsJob, payload, { key: `payment.sync:${payload.order_id}`, isDeduplicated: true });
}

async function readPayments(
  world: World,
  { organization_id, processor_order_id }: OrderRow,
  payment_id: string | undefined,
): Promise<readonly ProcessorPayment[]> {
  if (processor_order_id === null) {
    return [];
  }
  const read = await callProcessor(world, async (processor, signal) => {
    if (payment_id === undefined) {
      return processor.listPayments({ organization_id, order_id: processor_order_id }, signal);
    }
    const payment = await processor.findPayment({ organization_id, payment_id }, signal);
    return payment ? [payment] : [];
  });
  return read.filter(({ order_id }) => order_id === processor_order_id);
}

/** Reads the order again for each payment, because the previous payment may have paid it. */
async function syncPayment(world: World, key: OrderKey, payment: ProcessorPayment): Promise<void> {
  const order = await readOrder(world.database.queries, key);
  await settlePayment(world, key, await captureIfOpen(world, order, payment));
}

/** Orders per run; the next run follows in a minute. */
const batchSize = 100;

export const reconcilePaymentsJob = defineScheduledJob({
  name: "payment.reconcile",
  schedule: "* * * * *",

  async run(world) {
    const now = world.now();
    await world.database.transaction(async (tx) => {
      const due = await claimDue(tx, world.payments.name, now);
      const checks = due.map((order) => ({ ...order, next_check_at: nextCheckOf(order, now) }));
      const columns = columnsOf("payment_orders", "organization_id", "id", "next_check_at");
      await sql`
        update payment_orders set next_check_at = checked.next_check_at
        from ${recordset("checked", columns, checks)}
        where payment_orders.organization_id = checked.organization_id and payment_orders.id = checked.id
      `.execute(tx);
      const jobs = due.map(({ organization_id, id }) => newSyncJob({ organization_id, order_id: id }));
      await tx.enqueue(jobs);
    });
  },
});

/**
 * Locks the orders to read now. Organizations take turns, so that many orders of one do not delay the orders
 * of another. That sorts all orders that are due: half a second for 100,000.
 */
async function claimDue(tx: Transaction, processor: string, now: Date) {
  const columns = columnsOf("payment_orders", "organization_id", "id", "created_at", "paid_at");
  const at = now.toISOString();
  const { rows } = await rowsOf(columns)`
    select organization_id, id, created_at, paid_at from payment_orders
    where next_check_at <= ${at} and (organization_id, id) in (
      select organization_id, id from (
        select organization_id, id, next_check_at,
          row_number() over (partition by organization_id order by next_check_at) as turn
        from payment_orders where next_check_at <= ${at} and processor = ${processor}
      ) as due
      order by turn, next_check_at limit ${batchSize}
    )
    for update skip locked
  `.execute(tx);
  return rows;
}
