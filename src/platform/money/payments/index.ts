/** Payments: top-ups of the wallet through a payment processor. */
import { payments as contract } from "../../../../tools/payments.ts";
import { ofOrganization, readPage } from "../../../database/query/index.ts";
import { usesCurrency } from "../../account/organization/index.ts";
import { implement } from "../../foundation/kernel/index.ts";
import { fromMinor } from "./amounts.ts";
import { createPaymentOrder } from "./create-order.ts";
import { returnPaymentJob } from "./return-payment.ts";
import type { PaymentRow } from "./states.ts";
import { reconcilePaymentsJob, syncPaymentsJob } from "./sync.ts";
import { verifyPayment } from "./verify.ts";
import { deletePaymentEventsJob, webhookRoute } from "./webhook.ts";

export { receivePaymentWebhook } from "./webhook.ts";

export const payments = implement(contract, {
  tables: ["payment_orders", "payments", "payment_events"],
  operations: {
    create_payment_order: createPaymentOrder,
    verify_payment: verifyPayment,

    async list_payments({ page, limit }, { db, organization }) {
      const query = ofOrganization(db, organization).selectFrom("payments").selectAll().orderBy("id", "desc");
      const { rows, meta } = await readPage(query, { page, per_page: limit });
      const { total } = meta;
      const pagination = { page, limit, total, total_pages: Math.ceil(total / limit) };
      return { data: { payments: rows.map(serialize), pagination } };
    },
  },
  jobs: [syncPaymentsJob, reconcilePaymentsJob, returnPaymentJob, deletePaymentEventsJob],
  routes: [webhookRoute],
  hooks: [
    usesCurrency.handledBy(async (tx, organization) => {
      const found = await ofOrganization(tx, organization)
        .selectFrom("payment_orders")
        .select("id")
        .limit(1)
        .executeTakeFirst();
      return found !== undefined;
    }),
  ],
});

function serialize({ amount, amount_refunded, ...row }: PaymentRow) {
  const { currency } = row;
  return {
    ...row,
    amount: fromMinor(amount, currency),
    amount_refunded: fromMinor(amount_refunded, currency),
  };
}
