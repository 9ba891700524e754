/**
 * Holds money for messages before they are sent. If the wallet has to pay, no hold takes it below its limit.
 */
import type { Failure } from "../../../../tools/contract/index.ts";
import { fail } from "../../../../tools/errors.ts";
import { fromMicros } from "../../../../tools/money.ts";
import type { Queries } from "../../../database/database.ts";
import { together } from "../../../database/transaction.ts";
import { capabilitiesOf, type InboxOfChannel } from "../../account/inboxes/index.ts";
import { lockOrganization, lockOrganizations } from "../../account/organization/index.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import { accountKey, type MoneyAccount, readAvailable, readAvailableOf, readWallet } from "./balances.ts";
import { recordTransfers, type Transfer } from "./transfers.ts";

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

export interface Hold
  extends Pick<
    Transfer,
    "organization_id" | "reference" | "amount" | "currency" | "message_id" | "simulated"
  > {
  /** Whether the amount is held only if the wallet covers it. */
  readonly isLimited: boolean;
}

/**
 * Takes the lock under which the balance is compared with its limit: of two concurrent holds, the second sees
 * the first. The lock lasts until the commit.
 */
export async function lockWallet(tx: Transaction, organization: string): Promise<void> {
  await lockOrganization(tx, organization);
}

/**
 * Selects the holds that can be recorded: every hold without a limit, and the limited holds that the wallet
 * covers after the holds before them. The wallets of limited holds stay locked until the commit. Without a
 * limited hold no statement is sent.
 */
export async function selectCovered<One extends Hold>(
  tx: Transaction,
  world: WalletWorld,
  holds: readonly One[],
): Promise<readonly One[]> {
  const limited = holds.filter(({ isLimited }) => isLimited);
  if (limited.length === 0) {
    return holds;
  }
  const organizations = limited.map(({ organization_id }) => organization_id);
  const accounts = limited.map(({ organization_id: organization, simulated }) => ({
    organization,
    simulated,
  }));
  const [, available] = await together(
    lockOrganizations(tx, organizations),
    // A statement of its own, which sees the holds of the transactions for which the lock waited.
    readAvailableOf(tx, world, accounts),
  );
  return holds.filter((hold) => {
    const key = accountKey({ organization: hold.organization_id, simulated: hold.simulated });
    const left = (available.get(key) ?? 0) - hold.amount;
    if (hold.isLimited && left < 0) {
      return false;
    }
    available.set(key, left);
    return true;
  });
}

/** Records holds. A hold whose reference exists is not recorded again. */
export async function recordHolds(tx: Transaction, holds: readonly Hold[], now: Date): Promise<void> {
  const transfers = holds.map(
    ({ isLimited: _, ...hold }) =>
      ({ ...hold, type: "hold", from_account: "wallet", to_account: "held" }) as const,
  );
  await recordTransfers(tx, transfers, now);
}

/** Holds an amount. @returns whether the amount is held. */
export async function holdAmount(
  tx: Transaction,
  world: WalletWorld,
  hold: Hold,
  now: Date,
): Promise<boolean> {
  const covered = await selectCovered(tx, world, [hold]);
  await recordHolds(tx, covered, now);
  return covered.length > 0;
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
