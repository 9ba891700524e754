/**
 * Compares every balance with the sum of its ledger entries, once a day, and reports differences in the log.
 *
 * A trigger keeps both equal, so a difference means that rows were changed by hand, or that a backup was
 * restored in part.
 */
import { sql } from "kysely";
import { type LedgerAccount, ledgerAccounts } from "../../../../tools/wallet.ts";
import type { Queries } from "../../../database/database.ts";
import { rowsOf, typed } from "../../../database/query/index.ts";
import { defineScheduledJob, type World } from "../../foundation/kernel/index.ts";

const differenceColumns = {
  organization_id: "text",
  account: typed<LedgerAccount>("text"),
  simulated: "boolean",
  balance: "bigint",
  sum_of_entries: "bigint",
} as const;

export interface Difference {
  readonly organization_id: string;
  readonly account: LedgerAccount;
  readonly simulated: boolean;
  /** In millionths of the currency's unit. */
  readonly balance: number;
  readonly sum_of_entries: number;
}

export const auditLedgerJob = defineScheduledJob({
  name: "ledger.audit",
  schedule: "23 3 * * *",
  run: reportDifferences,
});

/** Reads all organizations, not only organizations with balances: balances may be lost. */
export async function reportDifferences({ database, log }: Pick<World, "database" | "log">): Promise<void> {
  const organizations = await database.queries.selectFrom("organizations").select("id").execute();
  for (const { id } of organizations) {
    for (const difference of await findDifferences(database.queries, id)) {
      log.error(difference, "A balance differs from the sum of its ledger entries");
    }
  }
}

/** One statement, so that balances and entries are of the same moment. */
export async function findDifferences(db: Queries, organization: string): Promise<readonly Difference[]> {
  const accounts = sql.join(ledgerAccounts.map((name) => sql`(${sql.lit(name)}, ${sql.ref(name)})`));
  const { rows } = await rowsOf(differenceColumns)`
    with moved as (
      select account, simulated, sum(amount) as amount from (
        select to_account, simulated, amount from ledger_entries where organization_id = ${organization}
        union all
        select from_account, simulated, -amount from ledger_entries where organization_id = ${organization}
      ) as movement (account, simulated, amount) group by account, simulated
    ), balance as (
      select account, simulated, sum(amount) as amount
      from ledger_balances cross join lateral (values ${accounts}) as part (account, amount)
      where organization_id = ${organization} group by account, simulated
    )
    select ${organization} as organization_id, account, simulated, coalesce(balance.amount, 0)::bigint as balance,
      coalesce(moved.amount, 0)::bigint as sum_of_entries
    from moved full join balance using (account, simulated)
    where coalesce(balance.amount, 0) <> coalesce(moved.amount, 0)
    order by account, simulated
  `.execute(db);
  return rows;
}
