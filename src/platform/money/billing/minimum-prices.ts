/** The lowest price of a unit of the chatbot add-on, which the operator sets for each currency. */
import type { BillingUnit } from "../../../../tools/billing.ts";
import { fromMicros, toMicros } from "../../../../tools/money.ts";
import type { Queries } from "../../../database/database.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";

type Prices = Readonly<Record<BillingUnit, number>>;

export async function listMinimumPrices(db: Queries) {
  const rows = await db.selectFrom("chatbot_minimum_prices").selectAll().orderBy("currency").execute();
  return { data: rows.map(serialize), meta: { total: rows.length } };
}

export async function replaceMinimumPrices(tx: Transaction, currency: string, prices: Prices) {
  const values = { per_message: toMicros(prices.per_message), per_session: toMicros(prices.per_session) };
  const row = await tx
    .insertInto("chatbot_minimum_prices")
    .values({ currency, ...values })
    .onConflict((conflict) => conflict.column("currency").doUpdateSet(values))
    .returningAll()
    .executeTakeFirstOrThrow();
  return serialize(row);
}

/** In millionths of the currency's unit; 0 unless the operator has set one. */
export async function findMinimumPrice(db: Queries, currency: string, unit: BillingUnit): Promise<number> {
  const row = await db
    .selectFrom("chatbot_minimum_prices")
    .selectAll()
    .where("currency", "=", currency)
    .executeTakeFirst();
  return row?.[unit] ?? 0;
}

function serialize({ currency, per_message, per_session }: Prices & { readonly currency: string }) {
  return { currency, per_message: fromMicros(per_message), per_session: fromMicros(per_session) };
}
