/** The wallet: what messages hold, cost and release, and the ledger behind it. */
import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { World } from "../src/platform/foundation/kernel/index.ts";
import { receiveReceipts } from "../src/platform/inbox/messages/index.ts";
import { modules } from "../src/platform/index.ts";
import { findDifferences, reportDifferences } from "../src/platform/money/wallet/audit.ts";
import { ledger } from "../tools/ledger.ts";
import { messages } from "../tools/messages/index.ts";
import { organization } from "../tools/organization.ts";
import { prices } from "../tools/prices.ts";
import { operatorWallet } from "../tools/wallet.ts";
import { silentLog, useTestApp } from "./support/app.ts";
import { asOperator, createOrganizationFor } from "./support/operator.ts";
import { setFaults } from "./support/simulator.ts";
import { createTemplateHelpers } from "./support/templates.ts";
import { createWalletHelpers, price, setPrices } from "./support/wallet.ts";
import { createWorldProbe } from "./support/world.ts";

const dayMs = 24 * 3_600_000;
const { probe, readWorld } = createWorldProbe();
const app = useTestApp({ enabledModules: { ...modules, probe } });
const { read, send, entriesOf, organization: organizationId } = createWalletHelpers(app);
let world: World;

beforeAll(async () => {
  world = await readWorld(app);
  await setPrices(app);
});
beforeEach(() => setFaults(app, {}));

test("the price of a message is held when it is accepted, and spent when it is delivered", async () => {
  const before = await read();
  const { id } = await send();
  expect(await read()).toMatchObject({
    balance: before.balance,
    held: before.held + price,
    available: before.available - price,
    spent: before.spent,
  });
  await app.advanceTime(1_000);
  expect(await read()).toMatchObject({
    balance: before.balance - price,
    held: before.held,
    available: before.available - price,
    spent: before.spent + price,
  });
  expect(await entriesOf(id)).toEqual([`hold ${price}`, `charge ${price}`]);
});

test("the price depends on the template's category", async () => {
  await createTemplateHelpers(app).approve({ name: "sale", category: "marketing" });
  const template = { name: "sale", language: "en" };
  const { data } = await app.call(messages.send_message, {
    to: "+14155550181",
    type: "template",
    template,
  });
  expect(await entriesOf(data.id)).toEqual(["hold 0.025"]);
  await app.advanceTime(1_000);
});

test("the price is released when it fails, and charged if it is delivered all the same", async () => {
  await setFaults(app, { failures: [{ code: 131026 }] });
  const { id } = await send();
  await app.advanceTime(1_000);
  expect(await entriesOf(id)).toEqual([`hold ${price}`, `release ${price}`]);
  await receive(id, "delivered");
  expect(await entriesOf(id)).toEqual([`hold ${price}`, `release ${price}`, `charge ${price}`]);
  await receive(id, "read");
  expect(await entriesOf(id)).toHaveLength(3);
});

test("the price is what the channel says, whether less, more or nothing", async () => {
  await setFaults(app, { pricing: { category: "marketing" } });
  const dearer = await send();
  await app.advanceTime(1_000);
  expect(await entriesOf(dearer.id)).toEqual([`hold ${price}`, `charge ${price}`, "charge 0.021"]);

  await setFaults(app, { pricing: { is_free: true } });
  const free = await send();
  await app.advanceTime(1_000);
  expect(await entriesOf(free.id)).toEqual([`hold ${price}`, `release ${price}`]);

  await setFaults(app, { pricing: { category: "unknown" } });
  const unknown = await send();
  await app.advanceTime(1_000);
  expect(await entriesOf(unknown.id)).toEqual([`hold ${price}`, `charge ${price}`]);
});

test("the price is corrected if the channel names the price after the delivery", async () => {
  const { id } = await send();
  await app.advanceTime(1_000);
  await receive(id, "read", { category: "marketing", is_free: false });
  expect(await entriesOf(id)).toEqual([`hold ${price}`, `charge ${price}`, "correction 0.021"]);
});

test("the price is charged once, however often its receipts arrive", { tags: "both" }, async () => {
  await setFaults(app, { doubled_receipts: 1, swapped_receipts: 1 });
  const { id } = await send();
  await app.advanceTime(5_000);
  await receive(id, "delivered");
  expect(await entriesOf(id)).toEqual([`hold ${price}`, `charge ${price}`]);
});

test("the price is charged when the receipt came before the message was known", async () => {
  await setFaults(app, { lost_receipts: 1 });
  const { id } = await send();
  const organization_id = await organizationId();
  const pricing = { category: "marketing", is_free: false };
  await app.advanceTime(1_000);
  await sql`update messages set channel_message_id = null where id = ${id}`.execute(
    app.server.database.queries,
  );
  const receipt = {
    organization_id,
    channel_message_id: "early",
    token: null,
    failure: null,
    pricing,
  } as const;
  await receiveReceipts(world, [{ ...receipt, type: "delivered", occurred_at: app.now().toISOString() }]);
  expect(await entriesOf(id)).toEqual([`hold ${price}`]);
  await sql`update messages set channel_message_id = 'early' where id = ${id}`.execute(
    app.server.database.queries,
  );
  await receiveReceipts(world, [{ ...receipt, type: "read", occurred_at: app.now().toISOString() }]);
  expect(await entriesOf(id)).toEqual([`hold ${price}`, `charge ${price}`, "charge 0.021"]);
});

test("the price is released after 30 days without a receipt, and charged if one arrives later", async () => {
  await setFaults(app, { lost_receipts: 1 });
  const { id } = await send();
  await app.advanceTime(29 * dayMs);
  expect(await entriesOf(id)).toEqual([`hold ${price}`]);
  await app.advanceTime(dayMs + 2 * 3_600_000);
  expect(await entriesOf(id)).toEqual([`hold ${price}`, `release ${price}`]);
  expect((await read()).held).toBe(0);
  await receive(id, "delivered");
  expect(await entriesOf(id)).toEqual([`hold ${price}`, `release ${price}`, `charge ${price}`]);
});

test("a message that a version without charges delivered is charged after 30 days", async () => {
  await setFaults(app, { lost_receipts: 1 });
  const { id } = await send();
  await app.advanceTime(1_000);
  await sql`update messages set status = 'delivered' where id = ${id}`.execute(world.database.queries);
  await app.advanceTime(30 * dayMs + 2 * 3_600_000);
  expect(await entriesOf(id)).toEqual([`hold ${price}`, `charge ${price}`]);
});

test("a message that a version without charges accepted is never charged", async () => {
  await setFaults(app, { lost_receipts: 1 });
  const { id, conversation_id } = await send();
  await app.advanceTime(1_000);
  await sql`update messages set charge = null where id = ${id}`.execute(world.database.queries);
  await receive(id, "delivered", { category: "marketing", is_free: false });
  const { data } = await app.call(messages.get_message, { conversation_id, message_id: id });
  expect(data.status).toBe("delivered");
  expect(await entriesOf(id)).toEqual([`hold ${price}`]);
});

test("a message that cost nothing keeps its price after a change of the currency", async () => {
  const rates = [{ country: "other", marketing: 0.05, utility: 0, authentication: 0 }];
  await app.call(prices.replace_message_rates, { currency: "CHF", rates }, asOperator);
  const other = await createOrganizationFor(app, "Free");
  await app.call(organization.update_organization, { currency: "CHF" }, other);
  const text = { to: "+14155550182", type: "text", text: { body: "hello" } } as const;
  const { data } = await app.call(messages.send_message, text, other);
  await app.call(organization.update_organization, { currency: "USD" }, other);
  await receive(data.id, "delivered", { category: "marketing", is_free: false }, other.id);
  const { data: entries } = await app.call(ledger.list_ledger_entries, { message_id: data.id }, other);
  expect(entries).toEqual([]);
  const { conversation_id, id: message_id } = data;
  const found = await app.call(messages.get_message, { conversation_id, message_id }, other);
  expect(found.data.status).toBe("delivered");
});

test("the price is nothing in a currency without prices", async () => {
  const other = await createOrganizationFor(app, "Without prices");
  await app.call(organization.update_organization, { currency: "XAF" }, other);
  const text = { to: "+14155550182", type: "text", text: { body: "hello" } } as const;
  const { data } = await app.call(messages.send_message, text, other);
  const { data: entries } = await app.call(ledger.list_ledger_entries, { message_id: data.id }, other);
  expect(entries).toEqual([]);
});

test("the balances are the sums of the entries, and the audit reports any difference", {
  tags: "both",
}, async () => {
  const id = await organizationId();
  await send();
  expect(await findDifferences(world.database.queries, id)).toEqual([]);
  await sql`update ledger_balances set wallet = wallet - 5, spent = spent + 5 where organization_id = ${id}
    and part = (select min(part) from ledger_balances where organization_id = ${id})`.execute(
    world.database.queries,
  );
  const differences = await findDifferences(world.database.queries, id);
  expect(
    differences.map(({ account, balance, sum_of_entries }) => [account, balance - sum_of_entries]),
  ).toEqual([
    ["spent", 5],
    ["wallet", -5],
  ]);
});

test("the audit reports an organization that has lost all its balances", async () => {
  const { id } = await createOrganizationFor(app, "Restored in part");
  const adjustment = { id, amount: 3, reason: "Paid by invoice" };
  await app.call(operatorWallet.adjust_wallet, adjustment, asOperator);
  await sql`delete from ledger_balances where organization_id = ${id}`.execute(world.database.queries);
  const reported: unknown[] = [];
  await reportDifferences({ ...world, log: { ...silentLog, error: (what) => reported.push(what) } });
  expect(reported).toContainEqual({
    organization_id: id,
    account: "wallet",
    simulated: false,
    balance: 0,
    sum_of_entries: 3_000_000,
  });
});

test("an entry can't be changed or deleted, nor an account lose what no other gets", {
  tags: "both",
}, async () => {
  const queries = world.database.queries;
  await expect(sql`update ledger_entries set amount = 1`.execute(queries)).rejects.toThrow("never changed");
  await expect(sql`delete from ledger_entries`.execute(queries)).rejects.toThrow("never changed");
  await expect(sql`truncate ledger_entries`.execute(queries)).rejects.toThrow("never changed");
  await expect(sql`update ledger_balances set wallet = wallet + 1`.execute(queries)).rejects.toThrow("check");
});

async function receive(
  id: string,
  type: "delivered" | "read",
  pricing?: { category: string; is_free: boolean },
  of?: string,
) {
  const receipt = { channel_message_id: `sim.${id}`, token: id, type, failure: null, pricing };
  const organization_id = of ?? (await organizationId());
  await receiveReceipts(world, [{ ...receipt, organization_id, occurred_at: app.now().toISOString() }]);
}
