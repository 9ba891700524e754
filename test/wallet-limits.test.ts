/**
 * What the wallet can't pay: rejected or not, by the setting TIDINGS_WALLET, the inbox and the credit limit.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { inboxes } from "../tools/inboxes.ts";
import { messages } from "../tools/messages/index.ts";
import { organization } from "../tools/organization.ts";
import { operatorWallet } from "../tools/wallet.ts";
import { startTestApp, type TestApp, useTestApp } from "./support/app.ts";
import { expectFailure } from "./support/expect-failure.ts";
import { asOperator, createOrganizationFor } from "./support/operator.ts";
import { openPhone } from "./support/simulator.ts";
import { createWalletHelpers, price, setPrices } from "./support/wallet.ts";

describe("with TIDINGS_WALLET=block", () => {
  const env = { TIDINGS_WALLET: "block" };
  const app = useTestApp({ env });
  const { add, read, send } = createWalletHelpers(app);
  beforeAll(() => setPrices(app));

  test("a simulated inbox rejects nothing, unless its setting wallet is enforced", async () => {
    await using own = await startTestApp({ env });
    await setPrices(own);
    const { send, list } = createWalletHelpers(own);
    expect((await send()).status).toBe("queued");
    await own.advanceTime(1_000);
    await enforce(own);
    const failure = await expectFailure(send());
    expect(failure).toMatchObject({
      status: 402,
      code: "insufficient_funds",
      error: { required: price, available: -price },
    });
    expect(await list("hold")).toHaveLength(1);
  });

  test("messages are accepted while there is money for them, also many at once", {
    tags: "both",
  }, async () => {
    await enforce();
    const before = await read();
    await add(-before.available + 10 * price);
    const results = await Promise.allSettled(Array.from({ length: 25 }, () => send()));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    expect(await read()).toMatchObject({ available: 0, held: 10 * price });
    await app.advanceTime(5_000);
    expect(await read()).toMatchObject({ available: 0, held: 0, balance: 0 });
  });

  test("a rejected message is sent with its idempotency key once there is money", async () => {
    await enforce();
    await add(-(await read()).available - 5 * price);
    const text = { to: "+14155550187", type: "text", text: { body: "hello" } } as const;
    const again = () => app.call(messages.send_message, text, { idempotencyKey: "paid later" });
    expect(await expectFailure(again())).toMatchObject({ status: 402 });
    await add(7 * price);
    expect(await again()).toEqual(await again());
    expect(await read()).toMatchObject({ available: price, held: price });
    await app.advanceTime(1_000);
  });

  test("the confirmation of an opt-out is sent without money", async () => {
    const phone = openPhone(app, "+14155550183");
    await phone.write("STOP");
    await app.advanceTime(1_000);
    expect((await phone.listMessages()).map(({ direction }) => direction)).toEqual(["inbound", "outbound"]);
  });

  test("a message in a currency without prices is rejected", async () => {
    const other = await createOrganizationFor(app, "Without prices");
    await app.call(organization.update_organization, { currency: "XAF" }, other);
    const [inbox] = (await app.call(inboxes.list_inboxes, {}, other)).data;
    await app.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings: { wallet: "enforced" } }, other);
    const text = { to: "+14155550182", type: "text", text: { body: "hello" } } as const;
    const failure = await expectFailure(app.call(messages.send_message, text, other));
    expect(failure).toMatchObject({ status: 422, code: "price_unknown" });
  });

  async function enforce(at: TestApp = app) {
    const [inbox] = (await at.call(inboxes.list_inboxes, {})).data;
    await at.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings: { wallet: "enforced" } });
  }
});

describe("with TIDINGS_WALLET=credit_limit", () => {
  const app = useTestApp({ env: { TIDINGS_WALLET: "credit_limit", TIDINGS_CREDIT_LIMIT: "1" } });
  const { organization: organizationId, read, send } = createWalletHelpers(app);
  beforeAll(() => setPrices(app));

  test("the setting's limit applies until the operator sets the organization's own", async () => {
    const [inbox] = (await app.call(inboxes.list_inboxes, {})).data;
    await app.call(inboxes.update_inbox, { id: inbox?.id ?? "", settings: { wallet: "enforced" } });
    expect(await read()).toMatchObject({ credit_limit: 1, available: 1, balance: 0 });
    const id = await organizationId();
    const limit = (credit_limit: number | null) =>
      app.call(operatorWallet.update_credit_limit, { id, credit_limit }, asOperator);
    expect((await limit(2 * price)).data).toMatchObject({ credit_limit: 2 * price, available: 2 * price });
    await send();
    await send();
    expect((await expectFailure(send())).error).toMatchObject({ required: price, available: 0 });
    expect((await limit(null)).data).toMatchObject({
      credit_limit: 1,
      available: 1,
      simulated: { available: 1 - 2 * price },
    });
    expect((await send()).status).toBe("queued");
  });
});
