/** What happens to a payment without a verification: refunds, and the reconciliation. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { useTestApp } from "./support/app.ts";
import { createShop } from "./support/payments.ts";

const [minute, hour, day] = [60_000, 3_600_000, 24 * 3_600_000];
const app = useTestApp();

/** An organization of its own for each test. */
const start = () => createShop(app);

async function startPaid(amount: number) {
  const shop = await start();
  const { order_id } = await shop.order(amount);
  await shop.verify(await shop.pay(order_id));
  return { ...shop, order_id };
}

describe("a refund", () => {
  test("debits the wallet by its amount, and the last one completes it", async () => {
    const { order_id, refund, balance, entries, list } = await startPaid(10);
    await refund(order_id, { amount_minor: 250 });
    await app.advanceTime(2 * hour);
    expect(await balance()).toBe(7.5);
    expect((await list()).payments).toMatchObject([{ status: "captured", amount_refunded: 2.5 }]);
    await refund(order_id);
    await app.advanceTime(2 * hour);
    expect((await list()).payments).toMatchObject([{ status: "refunded", amount_refunded: 10 }]);
    await app.advanceTime(20 * day);
    expect(await entries()).toEqual(["top_up 10", "refund 2.5", "refund 7.5"]);
    expect(await balance()).toBe(0);
  });

  test("takes the wallet below zero if the money was spent", async () => {
    const { id, order_id, refund, balance } = await startPaid(1);
    await sql`
      insert into ledger_entries (organization_id, id, reference, type, from_account, to_account, amount, currency, simulated, created_at)
      values (${id}, 'txn_spent', 'spent', 'charge', 'wallet', 'spent', 900000, 'USD', true, now())
    `.execute(app.server.database.queries);
    await refund(order_id, { webhook: true });
    await app.runDueJobs();
    expect(await balance()).toBe(-0.9);
  });

  test("before the credit is known leaves nothing but both entries", async () => {
    const shop = await start();
    const { order_id } = await shop.order(8);
    const checkout = await shop.pay(order_id);
    await shop.refund(order_id);
    expect(await shop.verify(checkout)).toMatchObject({ status: "refunded", new_balance: 0 });
    expect(await shop.entries()).toEqual(["top_up 8", "refund 8"]);
  });
});

describe("the reconciliation", () => {
  test("credits an order whose payer never returned", async () => {
    const shop = await start();
    await shop.pay((await shop.order()).order_id);
    expect(await shop.balance()).toBe(0);
    await app.advanceTime(3 * minute);
    expect(await shop.balance()).toBe(500);
  });

  test("of one organization with many orders does not delay another's", async () => {
    const [many, shop] = [await start(), await start()];
    await many.order();
    await sql`
      insert into payment_orders (organization_id, id, processor, processor_order_id, amount, currency, status,
        next_check_at, created_at, updated_at)
      select organization_id, 'por_more_' || number, processor, 'order_more_' || number, amount, currency, status,
        next_check_at - interval '1 minute', created_at, updated_at
      from payment_orders, generate_series(1, 500) as number where organization_id = ${many.id}
    `.execute(app.server.database.queries);
    await shop.pay((await shop.order()).order_id);
    await app.advanceTime(3 * minute);
    expect(await shop.balance()).toBe(500);
    await sql`update payment_orders set next_check_at = null where organization_id = ${many.id}`.execute(
      app.server.database.queries,
    );
  });

  test("credits an order that is paid six days later", async () => {
    const shop = await start();
    const { order_id } = await shop.order();
    await app.advanceTime(6 * day);
    await shop.pay(order_id);
    await app.advanceTime(7 * hour);
    expect(await shop.balance()).toBe(500);
  });

  test("reads an order ever less often, and stops after a week", async () => {
    const shop = await start();
    await shop.order();
    const next = async () => {
      const { rows } = await sql<{ at: string | null }>`
        select next_check_at as at from payment_orders where organization_id = ${shop.id}
      `.execute(app.server.database.queries);
      const at = rows[0]?.at ?? null;
      return at === null ? null : Math.round((Date.parse(at) - app.now().getTime()) / minute);
    };
    expect(await next()).toBe(2);
    await app.advanceTime(hour);
    expect(await next()).toBe(30);
    await app.advanceTime(2 * day);
    expect(await next()).toBe(360);
    await app.advanceTime(6 * day);
    expect(await next()).toBe(null);
  });
});
