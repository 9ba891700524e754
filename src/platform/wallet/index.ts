/** The wallet: what an organization has paid in, what is held for messages on their way, and what was spent. */
import { sql } from "kysely";
import { fromMicros } from "../../../tools/money.ts";
import { wallet as contract, type LedgerEntryType } from "../../../tools/wallet.ts";
import { readPage } from "../../database/query/index.ts";
import { implement } from "../kernel/index.ts";
import { auditLedgerJob } from "./audit.ts";
import { readWallet } from "./balances.ts";
import { watchBalancesJob } from "./low-balance.ts";

export { adjustWallet, listAdjustments } from "./adjustments.ts";
export { holdingOrganizations, type MoneyAccount, readAvailable, readWallet } from "./balances.ts";
export { failInsufficient, holdInsertion, lockWallet, type Payment, paymentOf } from "./hold.ts";
export { recordTransfers, type Transfer } from "./transfers.ts";

/** The types of entries that no message causes: an index finds them. */
const withoutMessage: readonly LedgerEntryType[] = ["usage", "fee", "top_up", "refund", "adjustment", "split"];

export const wallet = implement(contract, {
  tables: ["ledger_entries", "ledger_balances", "wallet_adjustments", "wallet_states"],
  operations: {
    async get_wallet(_, { db, world, organization }) {
      return { data: await readWallet(db, world, organization) };
    },

    async list_ledger_entries({ type, message_id, ...paging }, { db, organization }) {
      const query = db
        .selectFrom("ledger_entries")
        .selectAll()
        .select(
          sql<string | null>`(
            select reason from wallet_adjustments as adjustment
            where adjustment.organization_id = ledger_entries.organization_id
              and adjustment.id = ledger_entries.reference and ledger_entries.type = 'adjustment'
          )`.as("reason"),
        )
        .where("organization_id", "=", organization)
        .$if(type !== undefined, (rows) => rows.where("type", "=", type ?? "hold"))
        .$if(withoutMessage.includes(type ?? "hold"), (rows) => rows.where("message_id", "is", null))
        .$if(message_id !== undefined, (rows) => rows.where(ofMessage(message_id ?? "")))
        .orderBy("id", "desc");
      const { rows, meta } = await readPage(query, paging);
      return { data: rows.map((row) => ({ ...row, amount: fromMicros(row.amount) })), meta };
    },
  },
  jobs: [watchBalancesJob, auditLedgerJob],
});

/** By the references, which begin with the id of their message: the index of references finds them. */
function ofMessage(id: string) {
  return sql<boolean>`reference >= ${`${id}:`} and reference < ${`${id};`}`;
}
