/**
 * Creates payment orders: an order is committed here first, and then created at the processor with its id as
 * the receipt.
 *
 * If the processor's response is lost, no caller gets the order, and its row becomes `unconfirmed`. The
 * organization's next request for the same amount takes the order over, and looks it up at the processor by
 * its receipt, so no second order is made.
 */
import { z } from "zod";
import { fail, failField } from "../../../../tools/errors.ts";
import { toMicros } from "../../../../tools/money.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { getOrganization } from "../../account/organization/index.ts";
import {
  freshId,
  type OutwardContext,
  outward,
  type Transaction,
  type WriteContext,
} from "../../foundation/kernel/index.ts";
import { findDecimals, fromMinor, toMinor } from "./amounts.ts";
import { lockOrder, nextCheckOf } from "./orders.ts";
import { callProcessor } from "./processor.ts";

/** How long an unconfirmed order is taken over instead of creating a new order. */
const takeOverMs = 24 * 3_600_000;

const Intent = z.object({
  id: z.string(),
  amount: z.int(),
  currency: z.string(),
  is_repeated: z.boolean(),
});
type Intent = z.infer<typeof Intent>;

export const createPaymentOrder = outward({
  intent: Intent,

  async begin({ amount }: { readonly amount: number }, context): Promise<Intent> {
    const { tx, world, organization } = context;
    const { currency } = await getOrganization(tx, organization);
    const decimals = findDecimals(currency);
    if (decimals === undefined) {
      throw fail("currency_not_payable", { currency });
    }
    const minor = toMinor(amount, { currency, decimals });
    const minimum = world.payments.minimumOf(currency);
    if (minor < minimum) {
      throw failField("amount", "amount_below_minimum", { minimum: fromMinor(minimum, currency), currency });
    }
    const order = { amount: minor, currency };
    const unconfirmed = await takeUnconfirmed(context, order);
    const id = unconfirmed ?? (await insertOrder(context, order));
    return { id, ...order, is_repeated: unconfirmed !== undefined };
  },

  async describe({ amount }, { tx, organization }) {
    const { currency } = await getOrganization(tx, organization);
    return {
      summary: `Create a payment order of ${amount} ${currency}`,
      price: { amount: toMicros(amount), currency },
    };
  },

  async call(intent, context) {
    let result: Awaited<ReturnType<typeof placeOrder>>;
    try {
      result = await placeOrder(intent, context);
    } catch (error) {
      await context.world.database.transaction((tx) => markUnconfirmed(tx, context, intent));
      throw error;
    }
    if (result.outcome === "refused") {
      await context.world.database.transaction((tx) => deleteOrder(tx, context, intent));
      throw fail("payment_order_refused", { reason: result.reason });
    }
    return result;
  },

  /** An order takes no money, so an order that was not created is created now. */
  async find(intent, context) {
    const result = await placeOrder({ ...intent, is_repeated: true }, context);
    return result.outcome === "created" ? result : undefined;
  },

  async record({ order_id }, { id, amount, currency }, { tx, world, organization, now }) {
    const order = await lockOrder(tx, { organization_id: organization, id });
    // Another call may have recorded the order if this call was delayed.
    if (order.processor_order_id === null) {
      await ofOrganization(tx, organization)
        .updateTable("payment_orders")
        .set({ status: "open", processor_order_id: order_id, next_check_at: nextCheckOf(order, now) })
        .where("id", "=", id)
        .execute();
    }
    const { keyId: processor_key_id, isSimulated: simulated } = world.payments;
    return { data: { order_id, amount: fromMinor(amount, currency), currency, processor_key_id, simulated } };
  },
});

function placeOrder({ id, amount, currency, is_repeated }: Intent, { world, organization }: OutwardContext) {
  const order = { organization_id: organization, receipt: id, amount, currency, isRepeated: is_repeated };
  return callProcessor(world, (processor, signal) => processor.createOrder(order, signal));
}

type Money = Pick<Intent, "amount" | "currency">;

/** Concurrent requests take over different orders. */
async function takeUnconfirmed(
  { tx, world, organization, now }: WriteContext,
  { amount, currency }: Money,
): Promise<string | undefined> {
  const taken = await ofOrganization(tx, organization)
    .updateTable("payment_orders")
    .set({ status: "creating", updated_at: now.toISOString() })
    .where("id", "=", (rows) =>
      rows
        .selectFrom("payment_orders")
        .select("id")
        .where("organization_id", "=", organization)
        .where("status", "=", "unconfirmed")
        .where("amount", "=", amount)
        .where("currency", "=", currency)
        .where("processor", "=", world.payments.name)
        .where("created_at", ">", new Date(now.getTime() - takeOverMs).toISOString())
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returning("id")
    .executeTakeFirst();
  return taken?.id;
}

async function insertOrder(context: WriteContext, money: Money): Promise<string> {
  const { tx, world, organization, now } = context;
  const id = freshId(context, "por");
  await tx
    .insertInto("payment_orders")
    .values({
      organization_id: organization,
      id,
      processor: world.payments.name,
      ...money,
      status: "creating",
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .execute();
  return id;
}

async function markUnconfirmed(
  tx: Transaction,
  { organization }: OutwardContext,
  { id }: Intent,
): Promise<void> {
  await ofOrganization(tx, organization)
    .updateTable("payment_orders")
    .set({ status: "unconfirmed" })
    .where("id", "=", id)
    .where("status", "=", "creating")
    .execute();
}

async function deleteOrder(tx: Transaction, { organization }: OutwardContext, { id }: Intent): Promise<void> {
  await ofOrganization(tx, organization)
    .deleteFrom("payment_orders")
    .where("id", "=", id)
    .where("status", "=", "creating")
    .execute();
}
