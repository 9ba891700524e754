/**
 * Holds money for messages before they are sent. If the wallet has to pay, no hold takes it below its limit.
 */
import { type RawBuilder, sql } from "kysely";
import type { Failure } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import { fromMicros } from "../../../../tools/money.ts";
import type { Queries } from "../../../database/database.ts";
import { rowsOf } from "../../../database/query/index.ts";
import { capabilitiesOf, type InboxOfChannel } from "../../account/inboxes/index.ts";
import { lockOrganization } from "../../account/organization/index.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import { creditLimit, type MoneyAccount, readAvailable, readWallet } from "./balances.ts";
import { type Transfer, transferInsertion } from "./transfers.ts";

type WalletWorld = Pick<World, "wallet">;

/** How the messages of an inbox are paid. */
export interface Payment {
  /** Whether simulated money pays. A real channel never spends simulated money. */
  readonly simulated: boolean;
  /** Whether they have a price. */
  readonly isPriced: boolean;
  /** Whether a message is rejected that can't be paid. */
  readonly isLimited: boolean;
}

/** The messages of a simulated inbox are charged too, and rejected only on request. */
export function paymentOf(world: Pick<World, "wallet" | "channels">, inbox: InboxOfChannel): Payment {
  const { isSimulated: simulated, isPriced } = capabilitiesOf(world, inbox);
  const isRequired = !simulated || inbox.settings.wallet === "enforced";
  return { simulated, isPriced, isLimited: isPriced && isRequired && world.wallet.mode !== "off" };
}

export type Hold = Pick<
  Transfer,
  "organization_id" | "reference" | "amount" | "currency" | "message_id" | "simulated"
>;

interface HoldOptions {
  readonly now: Date;
  readonly isLimited: boolean;
}

/**
 * Takes the lock under which the balance is compared with its limit: of two concurrent holds, the second sees
 * the first. Call this function before the hold; the lock lasts until the commit.
 */
export async function lockWallet(tx: Transaction, organization: string): Promise<void> {
  await lockOrganization(tx, organization);
}

/**
 * Holds an amount. With `isLimited`, call `lockWallet` before; nothing is held if less than the amount is
 * available.
 * @returns whether the amount is held.
 */
export async function holdAmount(
  tx: Transaction,
  world: WalletWorld,
  hold: Hold,
  options: HoldOptions,
): Promise<boolean> {
  const { rows } = await rowsOf({ reference: "text" })`
    ${holdInsertion(world, hold, options)} returning reference
  `.execute(tx);
  return rows.length > 0;
}

/**
 * The statement that holds an amount. With `isLimited` it inserts nothing if less than the amount is
 * available.
 */
export function holdInsertion(
  world: WalletWorld,
  hold: Hold,
  { now, isLimited }: HoldOptions,
): RawBuilder<unknown> {
  const { organization_id, amount, simulated } = hold;
  const isCovered = sql<boolean>`
    ${amount}::bigint <= (
      select coalesce(sum(wallet), 0) from ledger_balances
      where organization_id = ${organization_id} and simulated = ${simulated}
    ) + (select ${creditLimit(world)} from organizations where id = ${organization_id})`;
  const transfer = { ...hold, type: "hold", from_account: "wallet", to_account: "held" } as const;
  return transferInsertion([transfer], now, isLimited ? isCovered : undefined);
}

export async function failInsufficient(
  db: Queries,
  world: WalletWorld,
  { required, ...account }: MoneyAccount & { readonly required: number },
): Promise<Failure> {
  const available = await readAvailable(db, world, account);
  const { currency, mode } = await readWallet(db, world, account.organization);
  return fail("insufficient_funds", {
    required: fromMicros(required),
    available: fromMicros(available),
    currency,
    mode,
    simulated: account.simulated,
  });
}
