/**
 * The operator of the service: creates organizations, suspends them, and sets their limits, plans and
 * wallets.
 */

import { toMicros } from "../../../../tools/money.ts";
import { operator as contract } from "../../../../tools/operator.ts";
import {
  changeCreditLimit,
  changeLimits,
  resumeOrganization,
  suspendOrganization,
} from "../../account/organization/index.ts";
import { implement, operatorOwner, type Transaction } from "../../foundation/kernel/index.ts";
import {
  changeSubscription,
  listMinimumPrices,
  readSubscription,
  replaceMinimumPrices,
} from "../../money/billing/index.ts";
import { adjustWallet, listAdjustments, readWallet } from "../../money/wallet/index.ts";
import { readActs, selectOperatorActs } from "../activity/index.ts";
import { machineRoute } from "./machine-route.ts";
import { listOrganizations, prepareOrganization, requireOrganization } from "./organizations.ts";

export const operator = implement(contract, {
  routes: [machineRoute],
  operations: {
    create_organization: {
      async prepare(input) {
        const create = await prepareOrganization(input);
        return ({ once, now, world: { firstInbox } }) =>
          once(operatorOwner, async (tx) => ({ data: await create(tx, { now, firstInbox }) }));
      },
    },

    async list_operator_activity(page, { world }) {
      await world.acts.settle();
      return readActs(selectOperatorActs(world.database.queries), page);
    },

    async list_organizations(filters, { world }) {
      return listOrganizations(world.database.queries, filters);
    },

    async find_organization({ id }, { world }) {
      return { data: await requireOrganization(world.database.queries, id) };
    },

    async suspend_organization({ id, reason }, { once, now }) {
      return once(operatorOwner, (tx) =>
        changeOne(tx, id, () => suspendOrganization(tx, id, { reason, now })),
      );
    },

    async resume_organization({ id }, { once }) {
      return once(operatorOwner, (tx) => changeOne(tx, id, () => resumeOrganization(tx, id)));
    },

    async find_wallet({ id }, { world }) {
      await requireOrganization(world.database.queries, id);
      return { data: await readWallet(world.database.queries, world, id) };
    },

    async adjust_wallet({ id, ...change }, { world, once, now }) {
      return once(operatorOwner, async (tx) => {
        const { currency } = await requireOrganization(tx, id);
        const adjustment = await adjustWallet(tx, world, { ...change, organization: id, currency, now });
        return { data: { adjustment, wallet: await readWallet(tx, world, id) } };
      });
    },

    async list_adjustments({ id, ...paging }, { world }) {
      await requireOrganization(world.database.queries, id);
      return listAdjustments(world.database.queries, id, paging);
    },

    async update_credit_limit({ id, credit_limit }, { world, once }) {
      return once(operatorOwner, async (tx) => {
        await requireOrganization(tx, id);
        await changeCreditLimit(tx, id, credit_limit === null ? null : toMicros(credit_limit));
        return { data: await readWallet(tx, world, id) };
      });
    },

    async find_subscription({ id }, { world, now }) {
      await requireOrganization(world.database.queries, id);
      return { data: await readSubscription(world.database.queries, id, now) };
    },

    async update_subscription({ id, ...change }, { once, now }) {
      return once(operatorOwner, async (tx) => {
        await requireOrganization(tx, id);
        return { data: await changeSubscription(tx, id, { change, now }) };
      });
    },

    async list_minimum_prices(_, { world }) {
      return listMinimumPrices(world.database.queries);
    },

    async replace_minimum_prices({ currency, ...prices }, { once }) {
      return once(operatorOwner, async (tx) => ({ data: await replaceMinimumPrices(tx, currency, prices) }));
    },

    async update_organization_limits({ id, limits }, { once }) {
      return once(operatorOwner, (tx) => changeOne(tx, id, () => changeLimits(tx, id, limits)));
    },
  },
});

/** Changes an organization and returns it. @throws Failure `organization_not_found`. */
async function changeOne(tx: Transaction, id: string, change: () => Promise<void>) {
  await change();
  return { data: await requireOrganization(tx, id) };
}
