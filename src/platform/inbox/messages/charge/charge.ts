/**
 * What a message is charged, as a pure function of its progress.
 *
 * held → settled when it is delivered or read, → released when it failed or nothing was reported for 30 days. A message
 * that is delivered after its release is charged then. The channel's own pricing replaces the estimate whenever it
 * arrives: before the settlement it changes what is settled, after it the difference is moved.
 */
import type { MessageCharge } from "../../../../database/schema/index.ts";
import type { Transfer } from "../../../money/wallet/index.ts";

export type { MessageCharge };

/** What a message's progress means for its charge; undefined: nothing. */
export type ChargeStep = "settle" | "release" | undefined;

/** Moves an amount between two accounts; the reason is its type. */
export type Movement = Pick<Transfer, "type" | "from_account" | "to_account" | "amount">;

/** The channel's price, with the category that it has there. */
export type ChannelPrice = Pick<MessageCharge, "category" | "price">;

export interface AdvancedCharge {
  readonly charge: MessageCharge;
  readonly movements: readonly Movement[];
}

/** The charge after a step and, if the channel named one, with its price; and what has to be moved. */
export function advanceCharge(
  before: MessageCharge,
  { step, repriced = before }: { readonly step: ChargeStep; readonly repriced?: ChannelPrice | undefined },
): AdvancedCharge {
  const { category, price } = repriced;
  const charge = { ...before, category, price };
  if (step === "settle" && before.status !== "settled") {
    return settle(charge);
  }
  if (step === "release" && before.status === "held") {
    return { charge: { ...charge, status: "released", held: 0 }, movements: release(before.held) };
  }
  const movements = before.status === "settled" ? correct(price - before.price) : [];
  return { charge, movements };
}

function settle(charge: MessageCharge): AdvancedCharge {
  const { held, price } = charge;
  const fromHeld = Math.min(held, price);
  const movements = [
    ...move("charge", { from_account: "held", to_account: "spent", amount: fromHeld }),
    ...move("charge", { from_account: "wallet", to_account: "spent", amount: price - fromHeld }),
    ...release(held - fromHeld),
  ];
  return { charge: { ...charge, status: "settled", held: 0 }, movements };
}

const release = (amount: number) => move("release", { from_account: "held", to_account: "wallet", amount });

function correct(difference: number): readonly Movement[] {
  return difference > 0
    ? move("correction", { from_account: "wallet", to_account: "spent", amount: difference })
    : move("correction", { from_account: "spent", to_account: "wallet", amount: -difference });
}

function move(type: Movement["type"], movement: Omit<Movement, "type">): readonly Movement[] {
  return movement.amount > 0 ? [{ type, ...movement }] : [];
}
