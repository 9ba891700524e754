/** The wallet: what an organization has paid in, what is held for messages on their way, and what was spent. */
import { wallet as contract } from "../../../tools/wallet.ts";
import { implement } from "../kernel/index.ts";
import { auditLedgerJob } from "./audit.ts";
import { readWallet } from "./balances.ts";
import { watchBalancesJob } from "./low-balance.ts";

export { adjustWallet, listAdjustments } from "./adjustments.ts";
export { holdingOrganizations, type MoneyAccount, readAvailable, readWallet } from "./balances.ts";
export { failInsufficient, holdInsertion, lockWallet, type Payment, paymentOf } from "./hold.ts";
export { recordTransfers, type Transfer } from "./transfers.ts";

export const wallet = implement(contract, {
  tables: ["ledger_entries", "ledger_balances", "wallet_adjustments", "wallet_states"],
  operations: {
    async get_wallet(_, { db, world, organization }) {
      return { data: await readWallet(db, world, organization) };
    },
  },
  jobs: [watchBalancesJob, auditLedgerJob],
});
