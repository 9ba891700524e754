/** What a message is charged, under random sequences of its progress and of the channel's prices. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  advanceCharge,
  type ChargeStep,
  type MessageCharge,
} from "../src/platform/inbox/messages/charge/charge.ts";
import type { LedgerAccount } from "../tools/wallet.ts";
import { randomRuns } from "./support/iterations.ts";

// Few small amounts, so that they are often equal, and some of any size.
const amount = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 10 ** 12 }));
const repriced = fc.option(fc.record({ category: fc.constantFrom("utility", "marketing"), price: amount }), {
  nil: undefined,
});
const step = fc.record({ step: fc.constantFrom<ChargeStep>("settle", "release", undefined), repriced });
type Step = Parameters<typeof advanceCharge>[1];
const sequence = fc.array(step, { maxLength: 20, size: "max" });

function start(price: number): MessageCharge {
  return { status: "held", currency: "USD", country: "US", category: "utility", price, held: price };
}

/** The sums of an account's movements, from the hold on. */
type Sums = Readonly<Partial<Record<LedgerAccount, number>>>;

interface Run {
  readonly charge: MessageCharge;
  readonly sums: Sums;
  readonly settlements: number;
  readonly isLegal: boolean;
}

function advance(run: Run, input: Step): Run {
  const before = run.charge;
  const { charge, movements } = advanceCharge(before, input);
  const sums = { ...run.sums };
  for (const { from_account, to_account, amount } of movements) {
    sums[from_account] = (sums[from_account] ?? 0) - amount;
    sums[to_account] = (sums[to_account] ?? 0) + amount;
  }
  const isSettled = charge.status === "settled" && before.status !== "settled";
  const { category, price } = input.repriced ?? before;
  const spent = charge.status === "settled" ? charge.price : 0;
  const isLegal = [
    run.isLegal,
    // The ledger says what the charge says, and nothing else.
    (sums.held ?? 0) === charge.held,
    (sums.spent ?? 0) === spent,
    (sums.wallet ?? 0) === -charge.held - spent,
    Object.keys(sums).every((account) => ["wallet", "held", "spent"].includes(account)),
    movements.every((movement) => movement.amount > 0 && Number.isSafeInteger(movement.amount)),
    // The references of a step's movements differ.
    new Set(movements.map(({ from_account, to_account }) => `${from_account}-${to_account}`)).size ===
      movements.length,
    movements.every(({ type }) => type !== "charge") || isSettled,
    // Only a held charge holds something.
    charge.held === 0 || charge.status === "held",
    charge.category === category && charge.price === price,
    input.step !== "settle" || charge.status === "settled",
    input.step !== "release" || charge.status !== "held",
    // A charge is never held again, and a settled one stays settled.
    before.status === "held" || charge.status === before.status || isSettled,
    before.status !== "settled" || charge.status === "settled",
    input.step !== undefined || charge.status === before.status,
  ].every(Boolean);
  return { charge, sums, settlements: run.settlements + Number(isSettled), isLegal };
}

test("100,000 random sequences move what the charge says, and settle it at most once", () => {
  let longest = 0;
  fc.assert(
    fc.property(amount, sequence, (price, steps) => {
      longest = Math.max(longest, steps.length);
      let run: Run = {
        charge: start(price),
        sums: { wallet: -price, held: price },
        settlements: 0,
        isLegal: true,
      };
      return steps.every((one) => {
        run = advance(run, one);
        return run.isLegal && run.settlements <= 1;
      });
    }),
    randomRuns(5_000, 100_000),
  );
  expect(longest).toBe(20);
});
