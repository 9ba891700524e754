/** Applies the progress of messages to their charges, and collects the ledger entries that result. */

import type { ChannelPricing, MessageCharge } from "../../../../database/schema/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import { priceOf, readRates } from "../../../money/prices/index.ts";
import type { Transfer } from "../../../money/wallet/index.ts";
import { advanceCharge, type ChannelPrice, type ChargeStep, type Movement } from "./charge.ts";

/** The part of a message that its charge depends on. */
interface ChargedMessage {
  readonly organization_id: string;
  readonly id: string;
  readonly status: string;
  readonly charge: MessageCharge | null;
}

/** A receipt, the channel's acceptance, or a failure of our own. */
interface Update {
  readonly message_id: string;
  readonly type: string;
  readonly pricing?: ChannelPricing | undefined;
  readonly isLast?: boolean | undefined;
}

const steps: Readonly<Record<string, ChargeStep>> = {
  delivered: "settle",
  read: "settle",
  failed: "release",
};

/** What a message's status means for its charge. */
export function stepOf(status: string): ChargeStep {
  return steps[status];
}

export type Charger = (
  message: ChargedMessage,
  update: Update,
) => { readonly charge: MessageCharge | null; readonly transfers: readonly Transfer[] };

/** Reads the prices that the updates need, which are none unless the channel names another category. */
export async function createCharger(
  tx: Transaction,
  messages: ReadonlyMap<string, ChargedMessage>,
  updates: readonly Update[],
): Promise<Charger> {
  const reprice = await createReprice(tx, messages, updates);
  return (message, { type, pricing, isLast }) => {
    if (message.charge === null) {
      return { charge: null, transfers: [] };
    }
    const repriced = pricing && reprice(message.charge, pricing);
    const step = isLast ? "settle" : stepOf(message.status);
    const { charge, movements } = advanceCharge(message.charge, { step, repriced });
    return { charge, transfers: toTransfers({ ...message, charge }, type, movements) };
  };
}

/** The ledger entries of a message; `cause` happens once to each message. */
export function toTransfers(
  { organization_id, id, charge }: Pick<ChargedMessage, "organization_id" | "id"> & { charge: MessageCharge },
  cause: string,
  movements: readonly Movement[],
): readonly Transfer[] {
  const { currency, simulated = false } = charge;
  return movements.map((movement) => ({
    organization_id,
    currency,
    simulated,
    message_id: id,
    reference: `${id}:${cause}:${movement.from_account}-${movement.to_account}`,
    ...movement,
  }));
}

type Reprice = (charge: MessageCharge, pricing: ChannelPricing) => ChannelPrice;

async function createReprice(
  tx: Transaction,
  messages: ReadonlyMap<string, ChargedMessage>,
  updates: readonly Update[],
): Promise<Reprice> {
  const changed = updates.flatMap(({ message_id, pricing }) => {
    const message = messages.get(message_id);
    const isOther = pricing && !pricing.is_free && pricing.category !== message?.charge?.category;
    return message?.charge && isOther ? [message] : [];
  });
  const [first] = changed;
  const countries = changed.map(({ charge }) => charge?.country ?? null);
  const rates = first && (await readRates(tx, first.organization_id, [...new Set(countries)]));
  return ({ currency, country, category: estimated, price: estimate }, pricing) => {
    const category = pricing.category ?? estimated;
    if (pricing.is_free) {
      return { category, price: 0 };
    }
    // After messages that cost nothing, the organization may have changed its currency, in
    // which the ledger is kept.
    const isSame = category === estimated || rates?.currency !== currency;
    const price = isSame ? estimate : priceOf(rates, country, category);
    // If the category has no price, the category and the price of the estimate stay.
    return price === null ? { category: estimated, price: estimate } : { category, price };
  };
}
