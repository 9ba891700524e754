/**
 * Billing: the subscription of each organization to a plan, and its chatbot add-on.
 *
 * A trigger on the organizations starts each subscription (migration 0022).
 */
import { billing as contract } from "../../../../tools/billing.ts";
import { fail } from "../../../../tools/errors.ts";
import { usesCurrency } from "../../account/organization/index.ts";
import {
  defineScheduledJob,
  implement,
  type Transaction,
  type World,
} from "../../foundation/kernel/index.ts";
import { walletCredited } from "../wallet/index.ts";
import { changeAddon, findAddon, serializeAddon } from "./addon-rows.ts";
import { cancel, subscribe } from "./addon-subscribe.ts";
import { deleteOldUnitsJob } from "./addon-units.ts";
import { readSubscription, rollSubscriptionsJob } from "./subscription.ts";

export { recordUnit, requireAllowance } from "./addon-units.ts";
export { listMinimumPrices, replaceMinimumPrices } from "./minimum-prices.ts";
export { changeSubscription, readSubscription } from "./subscription.ts";

/**
 * Runs every minute as well, because a wallet may be able to pay again without a credit, when a held price is
 * released.
 */
const advanceAddonsJob = defineScheduledJob({
  name: "addon.advance",
  schedule: "* * * * *",

  async run(world) {
    const now = world.now();
    const due = await world.database.queries
      .selectFrom("chatbot_addons")
      .select("organization_id")
      .where(({ or, and, eb }) =>
        or([
          eb("next_billing_date", "<=", now.toISOString()),
          and([
            eb("grace_ends_at", "is not", null),
            or([eb("ends_at", "is", null), eb("ends_at", ">", now.toISOString())]),
          ]),
        ]),
      )
      .execute();
    for (const organization of new Set(due.map(({ organization_id }) => organization_id))) {
      // The failure of one organization does not stop the other organizations.
      await world.database
        .transaction((tx) => advanceAddon(tx, world, { organization, now }))
        .catch((err: unknown) => world.log.error({ err, organization }, "A chatbot add-on was not advanced"));
    }
  },
});

export const billing = implement(contract, {
  tables: ["subscriptions", "chatbot_addons", "chatbot_units", "chatbot_minimum_prices"],
  operations: {
    async get_subscription(_, { db, organization, now }) {
      return { data: await readSubscription(db, organization, now) };
    },

    async subscribe_chatbot_addon(terms, context) {
      return { data: serializeAddon(await subscribe(context, terms)) };
    },

    async cancel_chatbot_addon(_, context) {
      return { data: serializeAddon(await cancel(context)) };
    },

    async get_chatbot_addon(_, { db, organization }) {
      const addon = await findAddon(db, organization);
      if (!addon) {
        throw fail("addon_not_found");
      }
      return { data: serializeAddon(addon) };
    },
  },
  jobs: [rollSubscriptionsJob, advanceAddonsJob, deleteOldUnitsJob],
  hooks: [
    walletCredited.handledBy(advanceAddon),
    usesCurrency.handledBy(async (tx, organization) => (await findAddon(tx, organization)) !== undefined),
  ],
});

/** Applies the changes caused by time and by the wallet. */
async function advanceAddon(
  tx: Transaction,
  world: World,
  { organization, now }: { readonly organization: string; readonly now: Date },
): Promise<void> {
  await changeAddon(tx, world, { organization, now, apply: async (account) => account });
}
