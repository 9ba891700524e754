/**
 * Writes ledger entries. Each entry moves an amount from one account to another, so the accounts always add
 * up to zero.
 *
 * Simulated money is a ledger of its own: no entry moves it to real money, or back.
 *
 * Entries are never changed or deleted, and references are unique: the same cause can't count twice. A
 * trigger adds each entry to the balances in the same statement (`add_to_ledger_balances` of migration 0035).
 */
import { sql } from "kysely";
import type { LedgerAccount, LedgerEntryType } from "../../../../tools/wallet.ts";
import { newId } from "../../../database/id.ts";
import { columnsOf, recordset } from "../../../database/query/index.ts";
import type { Transaction } from "../../foundation/kernel/index.ts";

export interface Transfer {
  readonly organization_id: string;
  /** Names the cause of the transfer. */
  readonly reference: string;
  readonly type: LedgerEntryType;
  readonly from_account: LedgerAccount;
  readonly to_account: LedgerAccount;
  /** In millionths of the currency's unit, greater than 0. */
  readonly amount: number;
  /** The organization's currency. */
  readonly currency: string;
  readonly message_id: string | null;
  /** Whether the transfer moves simulated money. Then both accounts hold simulated money. */
  readonly simulated: boolean;
}

const transferColumns = columnsOf(
  "ledger_entries",
  "organization_id",
  "id",
  "reference",
  "type",
  "from_account",
  "to_account",
  "amount",
  "currency",
  "message_id",
  "simulated",
);

/** Writes transfers with one statement. A transfer whose reference exists is not written again. */
export async function recordTransfers(
  tx: Transaction,
  transfers: readonly Transfer[],
  now: Date,
): Promise<void> {
  if (transfers.length === 0) {
    return;
  }
  const rows = transfers.map((transfer) => ({ id: newId("txn", now), ...transfer }));
  await sql`
    insert into ledger_entries (organization_id, id, reference, type, from_account, to_account, amount, currency,
      message_id, simulated, created_at)
    select organization_id, id, reference, type, from_account, to_account, amount, currency, message_id, simulated,
      ${now.toISOString()}::timestamptz
    from ${recordset("transfer", transferColumns, rows)}
    on conflict (organization_id, reference) do nothing
  `.execute(tx);
}
