/** Reads the balances of an organization's accounts, and what the wallet can pay. */
import { sql } from "kysely";
import type { z } from "zod";
import { fromMicros } from "../../../../tools/money.ts";
import { type LedgerAccount, ledgerAccounts, type Wallet } from "../../../../tools/wallet.ts";
import type { Queries } from "../../../database/database.ts";
import {
  columnsOf,
  matchesKey,
  type RowOf,
  recordset,
  rowsOf,
  typed,
} from "../../../database/query/index.ts";
import type { World } from "../../foundation/kernel/index.ts";

/**
 * In millionths of the currency's unit. Money comes from the accounts `top_ups` and `adjustments`, whose
 * balances are below zero.
 */
export type Balances = Readonly<Record<LedgerAccount, number>>;

/** The real or the simulated money of an organization. */
export interface MoneyAccount {
  readonly organization: string;
  readonly simulated: boolean;
}

/** The sums of the balances, with the alias `total`. */
const totals = ({ organization, simulated }: MoneyAccount) => sql<Balances>`
  select ${sql.join(ledgerAccounts.map((name) => sql`coalesce(sum(${sql.ref(name)}), 0)::bigint as ${sql.ref(name)}`))}
  from ledger_balances where organization_id = ${organization} and simulated = ${simulated}`;

type WalletWorld = Pick<World, "wallet">;

/** How far below zero a payment may take the wallet. The columns are columns of organizations. */
export function creditLimit({ wallet }: WalletWorld) {
  return wallet.mode === "credit_limit"
    ? sql<number>`coalesce(organizations.credit_limit, ${wallet.creditLimit}::bigint)`
    : sql<number>`0::bigint`;
}

/** The wallet as the API shows it. */
export async function readWallet(
  db: Queries,
  world: WalletWorld,
  organization: string,
): Promise<z.input<typeof Wallet>> {
  const { rows } = await rowsOf(walletColumns)`
    select to_jsonb(real) as real, to_jsonb(simulated) as simulated, organizations.currency,
      organizations.low_balance_threshold, ${creditLimit(world)} as credit_limit
    from organizations cross join (${totals({ organization, simulated: false })}) as real
      cross join (${totals({ organization, simulated: true })}) as simulated
    where organizations.id = ${organization}
  `.execute(db);
  const [row] = rows;
  if (!row) {
    throw new Error(`There is no organization ${organization}`);
  }
  const { currency, low_balance_threshold: threshold, credit_limit } = row;
  return {
    currency,
    ...describe(row.real, row),
    mode: world.wallet.mode,
    credit_limit: fromMicros(credit_limit),
    low_balance_threshold: threshold === null ? null : fromMicros(threshold),
    simulated: describe(row.simulated, row),
  };
}

const walletColumns = {
  ...columnsOf("organizations", "currency", "low_balance_threshold"),
  real: typed<Balances>("jsonb"),
  simulated: typed<Balances>("jsonb"),
  credit_limit: "bigint",
} as const;

type WalletRow = RowOf<typeof walletColumns>;

function describe(
  { wallet, held, spent }: Balances,
  { credit_limit, low_balance_threshold: threshold }: WalletRow,
) {
  const available = wallet + credit_limit;
  return {
    balance: fromMicros(wallet + held),
    held: fromMicros(held),
    available: fromMicros(available),
    spent: fromMicros(spent),
    is_low: threshold !== null && available < threshold,
  };
}

/** What the real or the simulated money of an organization can pay, in millionths of the currency's unit. */
export async function readAvailable(db: Queries, world: WalletWorld, account: MoneyAccount): Promise<number> {
  const available = await readAvailableOf(db, world, [account]);
  const amount = available.get(accountKey(account));
  if (amount === undefined) {
    throw new Error(`There is no organization ${account.organization}`);
  }
  return amount;
}

/** Identifies an account in a map. */
export const accountKey = ({ organization, simulated }: MoneyAccount) => `${organization} ${simulated}`;

/** The same for any number of accounts, by `accountKey`. */
export async function readAvailableOf(
  db: Queries,
  world: WalletWorld,
  accounts: readonly MoneyAccount[],
): Promise<Map<string, number>> {
  const wanted = [...new Map(accounts.map((account) => [accountKey(account), account])).values()];
  const { rows } = await rowsOf({ organization: "text", simulated: "boolean", available: "bigint" })`
    select account.organization, account.simulated, total.wallet + ${creditLimit(world)} as available
    from ${recordset("account", { organization: "text", simulated: "boolean" }, wanted)}
    join organizations on ${matchesKey(
      "organizations.id",
      "account.organization",
      wanted.map(({ organization }) => organization),
    )}
    cross join lateral (
      select coalesce(sum(wallet), 0)::bigint as wallet from ledger_balances
      where organization_id = account.organization and simulated = account.simulated
    ) as total
  `.execute(db);
  return new Map(rows.map(({ available, ...account }) => [accountKey(account), available]));
}

/** The organizations that hold money. */
export async function holdingOrganizations(db: Queries): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("ledger_balances")
    .select("organization_id")
    .groupBy("organization_id")
    .having(({ fn }) => fn.sum("held"), ">", 0)
    .execute();
  return rows.map(({ organization_id }) => organization_id);
}
