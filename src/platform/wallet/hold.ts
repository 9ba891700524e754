/** Holds money for what is about to be sent. Where the wallet must pay, no hold takes it below its limit. */
import { type RawBuilder, sql } from "kysely";
import type { Failure } from "../../../tools/contract/index.ts";
import { fail } from "../../../tools/errors.ts";
import { fromMicros } from "../../../tools/money.ts";
import type { Queries, Transaction } from "../../database/database.ts";
import { lockOrganization, type World } from "../kernel/index.ts";
import { creditLimit, readWallet } from "./balances.ts";
import { type Transfer, transferInsertion } from "./transfers.ts";

type WalletWorld = Pick<World, "wallet">;

/** Whether the wallet must pay for the messages of an inbox. A simulated one is charged, and rejected only on request. */
export function mustPay(
  { wallet }: WalletWorld,
  inbox: { readonly channel: string; readonly settings: Record<string, unknown> },
): boolean {
  return wallet.mode !== "off" && (inbox.channel !== "simulator" || inbox.settings.wallet === "enforced");
}

/**
 * Takes the lock under which the balance is compared with its limit: of two holds at once, the second one sees the first.
 * It must be executed before the statement of `holdInsertion`, and lasts until the commit.
 */
export async function lockWallet(tx: Transaction, organization: string): Promise<void> {
  await lockOrganization(tx, organization);
}

/** The statement that holds an amount. With `isLimited` it inserts nothing if less than the amount is available. */
export function holdInsertion(
  world: WalletWorld,
  hold: Pick<Transfer, "organization_id" | "reference" | "amount" | "currency" | "message_id">,
  { now, isLimited }: { readonly now: Date; readonly isLimited: boolean },
): RawBuilder<unknown> {
  const { organization_id, amount } = hold;
  const isCovered = sql<boolean>`
    ${amount}::bigint <= (
      select coalesce(sum(wallet), 0) from ledger_balances where organization_id = ${organization_id}
    ) + (select ${creditLimit(world)} from organizations where id = ${organization_id})`;
  const transfer = { ...hold, type: "hold", from_account: "wallet", to_account: "held" } as const;
  return transferInsertion([transfer], now, isLimited ? isCovered : undefined);
}

export async function failInsufficient(
  db: Queries,
  world: WalletWorld,
  { organization, required }: { readonly organization: string; readonly required: number },
): Promise<Failure> {
  const { available, currency } = await readWallet(db, world, organization);
  return fail("insufficient_funds", { required: fromMicros(required), available, currency });
}
