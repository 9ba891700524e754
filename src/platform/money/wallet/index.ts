/** The wallet: what an organization has paid in, what is held for messages being sent, and what was spent. */
import { wallet as contract } from "../../../../tools/wallet.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { usesCurrency } from "../../account/organization/index.ts";
import { implement } from "../../foundation/kernel/index.ts";
import { auditLedgerJob } from "./audit.ts";
import { readWallet } from "./balances.ts";
import { watchBalancesJob } from "./low-balance.ts";

export { adjustWallet, listAdjustments } from "./adjustments.ts";
export { holdingOrganizations, type MoneyAccount, readAvailable, readWallet } from "./balances.ts";
export { walletCredited } from "./credited.ts";
export {
  failInsufficient,
  type Hold,
  holdAmount,
  lockWallet,
  type Payment,
  paymentOf,
  recordHolds,
  selectCovered,
} from "./hold.ts";
export { recordTransfers, type Transfer } from "./transfers.ts";

export const wallet = implement(contract, {
  tables: ["ledger_entries", "ledger_balances", "wallet_adjustments", "wallet_states"],
  operations: {
    async get_wallet(_, { db, world, organization }) {
      return { data: await readWallet(db, world, organization) };
    },
  },
  jobs: [watchBalancesJob, auditLedgerJob],
  hooks: [
    usesCurrency.handledBy(async (tx, organization) => {
      const found = await ofOrganization(tx, organization)
        .selectFrom("ledger_entries")
        .select("id")
        .limit(1)
        .executeTakeFirst();
      return found !== undefined;
    }),
  ],
});
