/**
 * Emits an event when what is available falls below the threshold that the organization has set, once until it is above
 * again. Compared every minute: a comparison with each message would cost as much as its other statements.
 */
import { sql } from "kysely";
import { fromMicros } from "../../../tools/money.ts";
import type { Transaction } from "../../database/database.ts";
import { defineScheduledJob, emit, type World } from "../kernel/index.ts";
import { creditLimit } from "./balances.ts";

export const watchBalancesJob = defineScheduledJob({
  name: "wallet.watch",
  schedule: "* * * * *",

  run(world) {
    return world.database.transaction(async (tx) => {
      for (const { organization_id, currency, threshold, wallet, held, credit } of await markLow(tx, world)) {
        const amounts = { balance: wallet + held, held, available: wallet + credit, threshold };
        const inUnits = Object.entries(amounts).map(([name, micros]) => [name, fromMicros(micros)]);
        emit(tx, world, {
          type: "wallet.low_balance",
          organization_id,
          order: organization_id,
          // The entries of `amounts`.
          data: { currency, ...(Object.fromEntries(inUnits) as typeof amounts) },
        });
      }
    });
  },
});

interface LowWallet {
  readonly organization_id: string;
  readonly currency: string;
  readonly threshold: number;
  readonly wallet: number;
  readonly held: number;
  readonly credit: number;
}

/** Records which organizations with a threshold are below it, and returns those that were not before. */
async function markLow(tx: Transaction, world: World): Promise<readonly LowWallet[]> {
  const { rows } = await sql<LowWallet>`
    with watched as (
      select organizations.id as organization_id, currency, low_balance_threshold as threshold, total.wallet, total.held,
        ${creditLimit(world)} as credit, total.wallet + ${creditLimit(world)} < low_balance_threshold as is_low
      from organizations cross join lateral (
        select coalesce(sum(wallet), 0)::bigint as wallet, coalesce(sum(held), 0)::bigint as held
        from ledger_balances where ledger_balances.organization_id = organizations.id
      ) as total
      where low_balance_threshold is not null
    ), marked as (
      insert into wallet_states (organization_id, low_since)
      select organization_id, ${world.now().toISOString()} from watched where is_low
      on conflict (organization_id) do update set low_since = excluded.low_since
      where wallet_states.low_since is null
      returning organization_id
    ), unmarked as (
      update wallet_states set low_since = null
      where low_since is not null and organization_id not in (select organization_id from watched where is_low)
    )
    select watched.* from watched join marked using (organization_id)
  `.execute(tx);
  return rows;
}
