/**
 * Emits an event when the available amount falls below the threshold that the organization has set, and again
 * only after it has been above the threshold. Compared every minute: a comparison with each message would
 * cost as much as the message's other statements.
 *
 * The real and the simulated money have separate states. Simulated money that was never used is not compared.
 */
import { sql } from "kysely";
import { fromMicros } from "../../../../tools/money.ts";
import { type RowOf, rowsOf } from "../../../database/query/index.ts";
import { defineScheduledJob, type Transaction, type World } from "../../foundation/kernel/index.ts";
import { creditLimit } from "./balances.ts";

export const watchBalancesJob = defineScheduledJob({
  name: "wallet.watch",
  schedule: "* * * * *",

  run(world) {
    return world.database.transaction(async (tx) => {
      for (const simulated of [false, true]) {
        for (const low of await markLow(tx, world, simulated)) {
          emitLow(tx, world, { ...low, simulated });
        }
      }
    });
  },
});

const watchedColumns = {
  organization_id: "text",
  currency: "text",
  threshold: "bigint",
  wallet: "bigint",
  held: "bigint",
  credit: "bigint",
} as const;

type LowWallet = RowOf<typeof watchedColumns>;

function emitLow(
  tx: Transaction,
  world: World,
  {
    organization_id,
    currency,
    threshold,
    wallet,
    held,
    credit,
    simulated,
  }: LowWallet & { simulated: boolean },
): void {
  tx.emit({
    type: "wallet.low_balance",
    organization_id,
    order: organization_id,
    data: {
      currency,
      balance: fromMicros(wallet + held),
      held: fromMicros(held),
      available: fromMicros(wallet + credit),
      mode: world.wallet.mode,
      threshold: fromMicros(threshold),
      simulated,
    },
  });
}

/**
 * Records which organizations with a threshold are below it, and returns the organizations that were not
 * below it before.
 */
async function markLow(tx: Transaction, world: World, simulated: boolean): Promise<readonly LowWallet[]> {
  const lowSince = sql.ref(simulated ? "simulated_low_since" : "low_since");
  const { rows } = await rowsOf(watchedColumns)`
    with watched as (
      select organizations.id as organization_id, currency, low_balance_threshold as threshold, total.wallet, total.held,
        ${creditLimit(world)} as credit, total.wallet + ${creditLimit(world)} < low_balance_threshold as is_low
      from organizations cross join lateral (
        select coalesce(sum(wallet), 0)::bigint as wallet, coalesce(sum(held), 0)::bigint as held, count(*) > 0 as is_used
        from ledger_balances
        where ledger_balances.organization_id = organizations.id and ledger_balances.simulated = ${simulated}
      ) as total
      where low_balance_threshold is not null and (is_used or not ${simulated})
    ), marked as (
      insert into wallet_states (organization_id, ${lowSince})
      select organization_id, ${world.now().toISOString()} from watched where is_low
      on conflict (organization_id) do update set ${lowSince} = excluded.${lowSince}
      where wallet_states.${lowSince} is null
      returning organization_id
    ), unmarked as (
      update wallet_states set ${lowSince} = null
      where ${lowSince} is not null and organization_id not in (select organization_id from watched where is_low)
    )
    select organization_id, currency, threshold, wallet, held, credit
    from watched join marked using (organization_id)
  `.execute(tx);
  return rows;
}
