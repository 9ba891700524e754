/**
 * Reads and changes the chatbot add-on of an organization. A change locks the add-on's row, and also the
 * wallet if it has to pay.
 */
import type { Selectable } from "kysely";
import { addonTerms } from "../../../../tools/billing.ts";
import { fromMicros } from "../../../../tools/money.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import type { Tables } from "../../../database/schema/index.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import {
  lockWallet,
  type MoneyAccount,
  readAvailable,
  recordTransfers,
  type Transfer,
} from "../wallet/index.ts";
import { type AddonAccount, type AddonCharge, type AddonState, passTime, periodEnd } from "./addon-states.ts";

export type AddonRow = Selectable<Tables["chatbot_addons"]>;

/** The newest add-on, which may be cancelled. */
export async function findAddon(db: Queries, organization: string): Promise<AddonRow | undefined> {
  return selectNewest(db, organization).executeTakeFirst();
}

/**
 * The account that pays the add-on. Simulated money never pays it, whatever the inbox of an answer: the same
 * add-on also answers on real channels, and through `chat` anywhere.
 */
export function realMoney(organization: string): MoneyAccount {
  return { organization, simulated: false };
}

interface AddonChange {
  readonly organization: string;
  readonly now: Date;
  /**
   * Gets the add-on after the time up to `now` has passed, and its row; returns the add-on and its charges.
   */
  apply(account: AddonAccount, row: AddonRow): Promise<AddonAccount>;
  /** Required if `apply` may charge a unit: the reference of the ledger entry, and the message, if any. */
  readonly usage?: { readonly reference: string; readonly message_id: string | null };
}

/**
 * Changes the newest add-on and writes the charges. Returns undefined if there is no add-on. Changes of one
 * organization run one by one.
 */
export async function changeAddon(
  tx: Transaction,
  world: World,
  { organization, now, apply, usage }: AddonChange,
): Promise<AddonRow | undefined> {
  const isLimited = world.wallet.mode !== "off";
  if (isLimited) {
    await lockWallet(tx, organization);
  }
  const row = await selectNewest(tx, organization).forUpdate().executeTakeFirst();
  if (!row) {
    return undefined;
  }
  const available = isLimited
    ? await readAvailable(tx, world, realMoney(organization))
    : Number.POSITIVE_INFINITY;
  const before = { state: toState(row), prices: pricesOf(row), available, charges: [] };
  const { state, charges } = await apply(passTime(before, now), row);
  const transfers = charges.map((charge) => toTransfer(row, charge, usage));
  await recordTransfers(tx, transfers, now);
  return ofOrganization(tx, organization)
    .updateTable("chatbot_addons")
    .set(toAddonColumns(state))
    .where("id", "=", row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function pricesOf({ cost_per_unit, monthly_fee }: AddonRow) {
  return { costPerUnit: cost_per_unit, monthlyFee: monthly_fee };
}

export function toState(row: AddonRow): AddonState {
  return {
    status: row.status,
    trialUnits: row.trial_units_remaining,
    activatedAt: new Date(row.activated_at),
    period: row.period,
    firstFeePeriod: row.first_fee_period,
    feeChargedThrough: row.fee_charged_through,
    graceEndsAt: row.grace_ends_at === null ? null : new Date(row.grace_ends_at),
    endsAt: row.ends_at === null ? null : new Date(row.ends_at),
  };
}

export function toAddonColumns(state: AddonState) {
  return {
    status: state.status,
    trial_units_remaining: state.trialUnits,
    activated_at: state.activatedAt.toISOString(),
    period: state.period,
    first_fee_period: state.firstFeePeriod,
    fee_charged_through: state.feeChargedThrough,
    next_billing_date: state.status === "cancelled" ? null : periodEnd(state).toISOString(),
    grace_ends_at: state.graceEndsAt?.toISOString() ?? null,
    ends_at: state.endsAt?.toISOString() ?? null,
  };
}

/**
 * The transfer of a charge from the wallet. The reference of a fee names its period, so that each fee is
 * charged once.
 */
export function toTransfer(
  { organization_id, id, currency }: Pick<AddonRow, "organization_id" | "id" | "currency">,
  charge: AddonCharge,
  usage?: AddonChange["usage"],
): Transfer {
  const accounts = { from_account: "wallet", to_account: "spent" } as const;
  const { type, amount } = charge;
  const { simulated } = realMoney(organization_id);
  const entry = { organization_id, type, amount, currency, simulated, ...accounts };
  if (charge.type === "fee") {
    return { ...entry, reference: `${id}:fee:${charge.period}`, message_id: null };
  }
  if (!usage) {
    throw new Error("A charge for usage has no cause");
  }
  return { ...entry, ...usage };
}

/** The add-on as the API shows it. */
export function serializeAddon(row: AddonRow) {
  return {
    ...row,
    addon_type: "chatbot" as const,
    cost_per_unit: fromMicros(row.cost_per_unit),
    monthly_fee: fromMicros(row.monthly_fee),
    grace_period_days: addonTerms.gracePeriodDays,
  };
}

function selectNewest(db: Queries, organization: string) {
  return ofOrganization(db, organization)
    .selectFrom("chatbot_addons")
    .selectAll()
    .orderBy("id", "desc")
    .limit(1);
}
