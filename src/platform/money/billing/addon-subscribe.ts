/** Starts and cancels the chatbot add-on. */
import type { BillingUnit } from "../../../../tools/billing.ts";
import { fail, failField } from "../../../../tools/errors.ts";
import { fromMicros, toMicros } from "../../../../tools/money.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import { freshId, type Transaction, type World } from "../../foundation/kernel/index.ts";
import { failInsufficient, lockWallet, readAvailable, recordTransfers } from "../wallet/index.ts";
import {
  type AddonRow,
  changeAddon,
  findAddon,
  realMoney,
  toAddonColumns,
  toTransfer,
} from "./addon-rows.ts";
import { cancelAddon, chargeFee, feeDue, hasEnded, startAddon } from "./addon-states.ts";
import { findMinimumPrice } from "./minimum-prices.ts";

interface Place {
  readonly tx: Transaction;
  readonly world: World;
  readonly organization: string;
  readonly now: Date;
}

interface Terms {
  readonly billing_unit: BillingUnit;
  readonly cost_per_unit: number;
  readonly monthly_fee: number;
}

/**
 * The first add-on of an organization begins with the trial, and a later one with its fee.
 * @throws Failure `addon_exists`, `price_below_minimum`, `insufficient_funds`.
 */
export async function subscribe(place: Place, terms: Terms): Promise<AddonRow> {
  const { tx, organization } = place;
  // With the lock, the second of two concurrent requests sees the first.
  await lockWallet(tx, organization);
  const previous = await findAddon(tx, organization);
  if (previous && previous.status !== "cancelled") {
    throw fail("addon_exists", { existing_id: previous.id });
  }
  const { currency } = await tx
    .selectFrom("organizations")
    .select("currency")
    .where("id", "=", organization)
    .executeTakeFirstOrThrow();
  await requireMinimum(tx, currency, terms);
  if (previous) {
    await endNow(place, previous);
  }
  return insert(place, { ...terms, currency, hasTrial: previous === undefined });
}

/** @throws Failure `addon_not_found`. */
export async function cancel({ tx, world, organization, now }: Place): Promise<AddonRow> {
  const cancelled = await changeAddon(tx, world, {
    organization,
    now,
    async apply(account) {
      if (account.state.status === "cancelled") {
        throw fail("addon_not_found");
      }
      return { ...account, state: cancelAddon(account.state) };
    },
  });
  if (!cancelled) {
    throw fail("addon_not_found");
  }
  return cancelled;
}

async function insert(
  { tx, world, organization: organization_id, now }: Place,
  { hasTrial, currency, billing_unit, ...amounts }: Terms & { currency: string; hasTrial: boolean },
): Promise<AddonRow> {
  const id = freshId({ now }, "addon");
  const prices = {
    costPerUnit: toMicros(amounts.cost_per_unit),
    monthlyFee: toMicros(amounts.monthly_fee),
  };
  const available =
    world.wallet.mode === "off"
      ? Number.POSITIVE_INFINITY
      : await readAvailable(tx, world, realMoney(organization_id));
  const started = { state: startAddon(now, { hasTrial }), prices, available, charges: [] };
  const required = feeDue(started);
  // Also checked without a fee: a wallet below zero can't pay the first unit.
  if (!hasTrial && required > available) {
    throw await failInsufficient(tx, world, { ...realMoney(organization_id), required });
  }
  const { state, charges } = chargeFee(started, now);
  const row = await tx
    .insertInto("chatbot_addons")
    .values({
      organization_id,
      id,
      billing_unit,
      currency,
      cost_per_unit: prices.costPerUnit,
      monthly_fee: prices.monthlyFee,
      ...toAddonColumns(state),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordTransfers(
    tx,
    charges.map((charge) => toTransfer(row, charge)),
    now,
  );
  return row;
}

/** Ends a cancelled add-on that still works, because the new add-on replaces it. */
async function endNow({ tx, organization, now }: Place, { id, ends_at }: AddonRow): Promise<void> {
  if (ends_at !== null && !hasEnded({ endsAt: new Date(ends_at) }, now)) {
    await ofOrganization(tx, organization)
      .updateTable("chatbot_addons")
      .set({ ends_at: now.toISOString() })
      .where("id", "=", id)
      .execute();
  }
}

async function requireMinimum(tx: Transaction, currency: string, terms: Terms): Promise<void> {
  const minimum = await findMinimumPrice(tx, currency, terms.billing_unit);
  if (toMicros(terms.cost_per_unit) < minimum) {
    throw failField("cost_per_unit", "price_below_minimum", { minimum: fromMicros(minimum), currency });
  }
}
