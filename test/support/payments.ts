/** Payments in a test: creates orders, pays them at the simulated processor, and verifies them. */
import { ledger } from "../../tools/ledger.ts";
import { organization } from "../../tools/organization.ts";
import { payments } from "../../tools/payments.ts";
import { wallet } from "../../tools/wallet.ts";
import type { TestApp } from "./app.ts";
import { createOrganizationFor } from "./operator.ts";

export interface Checkout {
  readonly processor_order_id: string;
  readonly processor_payment_id: string;
  readonly processor_signature: string;
}

/** An organization of its own, with the helpers. */
export async function createShop(app: TestApp, currency = "USD") {
  const { id, key } = await createOrganizationFor(app, "Shop");
  await app.call(organization.update_organization, { currency }, { key });
  return { id, key, ...createPaymentHelpers(app, { key }) };
}

export function createPaymentHelpers(app: TestApp, as: { readonly key?: string } = {}) {
  const control = async (order_id: string, action: "pay" | "refund", json: object) => {
    const path = `/simulator/payments/${order_id}/${action}`;
    const answer = await app.fetch(path, { ...as, method: "POST", json });
    if (!answer.ok) {
      throw new Error(await answer.text());
    }
    return ((await answer.json()) as { data: Checkout }).data;
  };
  /** Whether the processor of the app's orders is simulated. */
  let isSimulated = true;
  return {
    async order(amount = 500) {
      const { data } = await app.call(payments.create_payment_order, { amount }, as);
      isSimulated = data.simulated;
      return data;
    },
    /** Without the webhook unless `options` ask for it. */
    pay: (order_id: string, options: object = {}) => control(order_id, "pay", { webhook: false, ...options }),
    refund: (order_id: string, options: object = {}) =>
      control(order_id, "refund", { webhook: false, ...options }),
    verify: async (checkout: Checkout) => (await app.call(payments.verify_payment, checkout, as)).data,
    list: async (paging: { page?: number; limit?: number } = {}) =>
      (await app.call(payments.list_payments, paging, as)).data,
    /** Of the money that the orders credit. */
    async balance() {
      const { data } = await app.call(wallet.get_wallet, {}, as);
      return isSimulated ? data.simulated.balance : data.balance;
    },
    /** The entries that payments caused, oldest first, as `type amount`. */
    async entries(): Promise<string[]> {
      const lists = await Promise.all(
        (["top_up", "refund"] as const).map((type) => app.call(ledger.list_ledger_entries, { type }, as)),
      );
      const entries = lists.flatMap(({ data }) => data).sort((a, b) => (a.id < b.id ? -1 : 1));
      return entries.map(({ type, amount }) => `${type} ${amount}`);
    },
  };
}
