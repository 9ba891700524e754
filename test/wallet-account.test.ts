/**
 * The wallet of an organization: its currency, the operator's adjustments, and the event of a low balance.
 */
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Queries } from "../src/database/database.ts";
import { ledger } from "../tools/ledger.ts";
import { messages } from "../tools/messages/index.ts";
import { operator } from "../tools/operator.ts";
import { organization } from "../tools/organization.ts";
import { prices } from "../tools/prices.ts";
import { operatorWallet } from "../tools/wallet.ts";
import { webhooks } from "../tools/webhooks.ts";
import { startTestApp, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { asOperator, createOrganizationFor } from "./support/operator.ts";
import { createWalletHelpers } from "./support/wallet.ts";

const app = useTestApp();
const { add, read, list, organization: organizationId } = createWalletHelpers(app);

test("an organization has one currency from the first entry on", async () => {
  await using own = await startTestApp();
  const { send } = createWalletHelpers(own);
  const change = (currency: string) => own.call(organization.update_organization, { currency });
  expect((await change("EUR")).data.currency).toBe("EUR");
  expect((await change("USD")).data.currency).toBe("USD");
  await send();
  expect(await expectFailure(change("EUR"))).toMatchObject({ status: 409, code: "currency_fixed" });
  expect((await change("USD")).data.currency).toBe("USD");
});

test("a message that is sent while the currency changes is charged in the new one", async () => {
  const { database } = app.server;
  const other = await createOrganizationFor(app, "In a hurry");
  const rates = [{ country: "other", marketing: 0.05, utility: 0.01, authentication: 0.01 }];
  await app.call(prices.replace_message_rates, { currency: "SEK", rates }, asOperator);
  const input = { to: "+14155550184", type: "text", text: { body: "hello" } } as const;
  const { sending } = await database.transaction(async (tx) => {
    await sql`update organizations set currency = 'SEK' where id = ${other.id}`.execute(tx);
    const sending = app.call(messages.send_message, input, other);
    // It is awaited after the commit.
    sending.catch(() => undefined);
    if (database.engine === "postgres") {
      // It has read the old currency, and waits for the row that its ledger entry refers to.
      await expect.poll(() => isWaiting(database.queries)).toBe(true);
    }
    // In an object: the promise itself would be awaited before the commit.
    return { sending };
  });
  const { data } = await sending;
  const { data: entries } = await app.call(ledger.list_ledger_entries, { message_id: data.id }, other);
  expect(entries.map(({ amount, currency }) => [amount, currency])).toEqual([[0.01, "SEK"]]);
});

async function isWaiting(db: Queries): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
  `.execute(db);
  return rows.length > 0;
}

test("an organization sees the operator's adjustments with their reason", async () => {
  const before = await read();
  const { adjustment, wallet: after } = await add(12.345678, "Welcome credit");
  expect(adjustment).toMatchObject({ amount: 12.345678, reason: "Welcome credit" });
  expect(after.simulated.balance).toBeCloseTo(before.balance + 12.345678, 6);
  await add(-2, "Refund of invoice 12");
  // The latest ones; those of other tests are older.
  const shown = (await list("adjustment")).slice(0, 2);
  expect(
    shown.map(({ amount, reason, from_account, to_account }) => [amount, reason, from_account, to_account]),
  ).toEqual([
    [2, "Refund of invoice 12", "wallet", "adjustments"],
    [12.345678, "Welcome credit", "adjustments", "wallet"],
  ]);
  const id = await organizationId();
  const listed = await app.call(operatorWallet.list_adjustments, { id }, asOperator);
  expect(listed.data.slice(0, 2).map(({ amount }) => amount)).toEqual([-2, 12.345678]);
});

test("an adjustment with the same idempotency key counts once", async () => {
  const id = await organizationId();
  const input = { id, amount: 5, reason: "Once" };
  const options = { ...asOperator, idempotencyKey: "adjust once" };
  const first = await app.call(operatorWallet.adjust_wallet, input, options);
  expect(await app.call(operatorWallet.adjust_wallet, input, options)).toEqual(first);
  expect((await list("adjustment")).filter(({ reason }) => reason === "Once")).toHaveLength(1);
});

test("an adjustment needs an amount of at most six decimals, and a reason", async () => {
  const id = await organizationId();
  const adjust = (input: object) =>
    app.call(operatorWallet.adjust_wallet, { id, ...input } as never, asOperator);
  for (const amount of [0, 0.0000001, 1e-7, 1e12, Number.NaN, "5"]) {
    expect(await expectFailure(adjust({ amount, reason: "x" }))).toMatchObject({ status: 400 });
  }
  expect(await expectFailure(adjust({ amount: 1, reason: " " }))).toMatchObject({ status: 400 });
  const unknown = { id: "org_unknown", amount: 1, reason: "x" };
  const failure = await expectFailure(app.call(operatorWallet.adjust_wallet, unknown, asOperator));
  expect(failure).toMatchObject({ status: 404, code: "organization_not_found" });
});

test("the event of a low balance is sent once, and again after more was available", async () => {
  const { cursor } = (await app.call(webhooks.list_events, {})).meta;
  const seen = async () => {
    await app.advanceTime(61_000);
    const { data: events } = await app.call(webhooks.list_events, {
      after: cursor,
      types: "wallet.low_balance",
    });
    return events
      .filter(({ type, data }) => type === "wallet.low_balance" && data.simulated === true)
      .map(({ data }) => data);
  };
  const data = await read();
  await app.call(organization.update_organization, { low_balance_threshold: 10 });
  await add(11 - data.available);
  expect(await seen()).toEqual([]);
  await add(-2);
  expect((await read()).low_balance_threshold).toBe(10);
  const low = { currency: "USD", balance: 9, held: 0, available: 9, mode: "off", threshold: 10 };
  expect(await seen()).toEqual([{ ...low, simulated: true }]);
  expect(await seen()).toHaveLength(1);
  expect((await read()).is_low).toBe(true);
  await add(5);
  expect(await seen()).toHaveLength(1);
  await add(-5);
  expect(await seen()).toHaveLength(2);
  await app.call(organization.update_organization, { low_balance_threshold: null });
  expect(await read()).toMatchObject({ low_balance_threshold: null, is_low: false });
});

test("the operator's list shows no wallet of another organization", async () => {
  const other = await createOrganizationFor(app, "Other");
  const found = await app.call(operatorWallet.find_wallet, { id: other.id }, asOperator);
  expect(found.data).toMatchObject({ balance: 0, spent: 0 });
  await app.call(operator.find_organization, { id: other.id }, asOperator);
  expect((await app.call(ledger.list_ledger_entries, {}, other)).data).toEqual([]);
});
