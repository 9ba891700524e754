/** The chatbot add-on in a test: subscribes, and counts answers as the code that gives them does. */

import type { World } from "../../src/platform/foundation/kernel/index.ts";
import { recordUnit, requireAllowance } from "../../src/platform/money/billing/index.ts";
import { billing } from "../../tools/billing.ts";
import { ledger } from "../../tools/ledger.ts";
import { operatorWallet, wallet } from "../../tools/wallet.ts";
import type { TestApp } from "./app.ts";
import { asOperator, createOrganizationFor } from "./operator.ts";

let answers = 0;

/** The add-on of an organization of its own. */
export async function createAddonTenant(app: TestApp, readWorld: (app: TestApp) => Promise<World>) {
  const { id, key } = await createOrganizationFor(app, "Chatbot");

  /** Gives an answer: rejected while the add-on is suspended. Returns whether a unit was counted. */
  async function answer({
    answer_id = `ans_${++answers}`,
    conversation_id = "conv_1",
  } = {}): Promise<boolean> {
    const world = await readWorld(app);
    const place = { organization: id, now: app.now() };
    await requireAllowance(world.database.queries, world, place);
    return world.database.transaction((tx) =>
      recordUnit(tx, world, { ...place, answer_id, conversation_id, isMessage: false }),
    );
  }

  return {
    id,
    key,
    answer,
    /** How many of these answers were counted. */
    async answers(count: number): Promise<number> {
      const results = await Promise.all(Array.from({ length: count }, () => answer()));
      return results.filter(Boolean).length;
    },
    /** As after so many answers that this number of units of the trial remains. */
    async leaveTrialUnits(trial_units_remaining: number): Promise<void> {
      const { queries } = app.server.database;
      await queries
        .updateTable("chatbot_addons")
        .set({ trial_units_remaining })
        .where("organization_id", "=", id)
        .execute();
    },
    read: async () => (await app.call(billing.get_chatbot_addon, {}, { key })).data,
    cancel: async () => (await app.call(billing.cancel_chatbot_addon, {}, { key })).data,
    async subscribe(
      cost_per_unit: number,
      monthly_fee = 0,
      billing_unit: "per_message" | "per_session" = "per_message",
    ) {
      const terms = { billing_unit, cost_per_unit, monthly_fee };
      return (await app.call(billing.subscribe_chatbot_addon, terms, { key })).data;
    },
    add: (amount: number) =>
      app.call(operatorWallet.adjust_wallet, { id, amount, reason: "Paid by invoice" }, asOperator),
    readWallet: async () => (await app.call(wallet.get_wallet, {}, { key })).data,
    listEntries: async (type: "usage" | "fee") =>
      (await app.call(ledger.list_ledger_entries, { type, per_page: 100 }, { key })).data,
  };
}
