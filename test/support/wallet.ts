/**
 * The simulated money in a test, which pays the simulated inbox: sends messages, adds money,
 * and reads the ledger.
 */

import { ledger } from "../../tools/ledger.ts";
import { messages } from "../../tools/messages/index.ts";
import { prices } from "../../tools/prices.ts";
import { type LedgerEntryType, operatorWallet, wallet } from "../../tools/wallet.ts";
import type { TestApp } from "./app.ts";
import { asOperator } from "./operator.ts";

/** Prices of messages to every country, in USD. */
const rates = [{ country: "other", marketing: 0.025, utility: 0.004, authentication: 0.0135 }];
/** Of a free-form message: as a utility template. */
export const price = 0.004;

/** The prices that the figures of a test depend on. */
export async function setPrices(app: TestApp): Promise<void> {
  await app.call(prices.replace_message_rates, { currency: "USD", rates }, asOperator);
}

export function createWalletHelpers(app: TestApp) {
  /** The one of the owner's key. */
  const organization = async () => {
    const row = await app.server.database.queries
      .selectFrom("organizations")
      .select("id")
      .orderBy("id")
      .executeTakeFirstOrThrow();
    return row.id;
  };
  return {
    organization,
    send: async (to = "+14155550180") =>
      (await app.call(messages.send_message, { to, type: "text", text: { body: "hello" } })).data,
    async read() {
      const { data } = await app.call(wallet.get_wallet, {});
      return { ...data, ...data.simulated };
    },
    /** The entries of a message, oldest first, as `type amount`. */
    async entriesOf(message_id: string): Promise<string[]> {
      const { data } = await app.call(ledger.list_ledger_entries, { message_id });
      return data.map(({ type, amount }) => `${type} ${amount}`).reverse();
    },
    list: async (type?: LedgerEntryType) => (await app.call(ledger.list_ledger_entries, { type })).data,
    async add(amount: number, reason = "Paid by invoice") {
      // A difference of two amounts can have more decimals than the API takes.
      const input = { id: await organization(), amount: Number(amount.toFixed(6)), reason, simulated: true };
      return (await app.call(operatorWallet.adjust_wallet, input, asOperator)).data;
    },
  };
}
