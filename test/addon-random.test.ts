/** The chatbot add-on under random sequences of units, credits, other expenses, cancellations and time. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type AddonAccount,
  cancelAddon,
  chargeFee,
  feeDue,
  isUsable,
  passTime,
  periodEnd,
  startAddon,
  useUnit,
} from "../src/platform/money/billing/addon-states.ts";
import { addMonths } from "../src/platform/money/billing/periods.ts";
import { randomRuns } from "./support/iterations.ts";

const dayMs = 24 * 3_600_000;

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("unit" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("wait" as const),
      days: fc.double({ min: 0, max: 45, noNaN: true }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("move" as const), amount: fc.integer({ min: -30, max: 60 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("cancel" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const start = fc.record({
  now: fc.date({ min: new Date("2027-01-01"), max: new Date("2029-01-01"), noInvalidDate: true }),
  hasTrial: fc.boolean(),
  trialUnits: fc.integer({ min: 1, max: 4 }),
  costPerUnit: fc.integer({ min: 0, max: 9 }),
  monthlyFee: fc.integer({ min: 0, max: 20 }),
  available: fc.oneof(fc.integer({ min: 20, max: 100 }), fc.constant(Number.POSITIVE_INFINITY)),
});
const sequence = fc.array(step, { maxLength: 25, size: "max" });

interface Run {
  readonly account: AddonAccount;
  readonly now: Date;
  readonly units: number;
  /** What was credited without what else was spent. */
  readonly moved: number;
}

function apply({ account, now, units, moved }: Run, one: Step): Run {
  if (one.type === "wait") {
    const later = new Date(now.getTime() + Math.round(one.days * dayMs));
    return { account: passTime(account, later), now: later, units, moved };
  }
  if (one.type === "move") {
    const changed = { ...account, available: account.available + one.amount };
    return { account: passTime(changed, now), now, units, moved: moved + one.amount };
  }
  if (one.type === "cancel") {
    const { state } = account;
    const cancelled = state.status === "cancelled" ? state : cancelAddon(state);
    return { account: { ...account, state: cancelled }, now, units, moved };
  }
  return isUsable(account.state, now)
    ? { account: useUnit(account, now), now, units: units + 1, moved }
    : { account, now, units, moved };
}

/** The rules of every moment. */
function isLegal({ account, now, units, moved }: Run, begun: Run): boolean {
  const { state, prices, available, charges } = account;
  const usage = charges.filter(({ type }) => type === "usage").length;
  const fees = charges.flatMap((charge) => (charge.type === "fee" ? charge.period : []));
  const spent = charges.reduce((sum, { amount }) => sum + amount, 0);
  const trialUsed = begun.account.state.trialUnits - state.trialUnits;
  const { status, graceEndsAt, endsAt } = state;
  return [
    available === begun.account.available + moved - (spent - sumOf(begun.account)),
    // Each unit is paid once: by the trial while it lasts, then by the wallet.
    trialUsed === Math.min(units, begun.account.state.trialUnits),
    prices.costPerUnit === 0 || usage === units - trialUsed,
    charges.every(({ type, amount }) => amount === (type === "fee" ? prices.monthlyFee : prices.costPerUnit)),
    // A fee once for each period, in order, and never for the trial's.
    fees.every((period, index) => index === 0 || period > (fees[index - 1] ?? -1)),
    fees.every((period) => period <= state.period && period >= (state.firstFeePeriod ?? Infinity)),
    // One state follows from the other fields.
    (status === "trialing") === (state.firstFeePeriod === null && status !== "cancelled"),
    status !== "trialing" || state.trialUnits > 0,
    (status === "grace") === (graceEndsAt !== null && now < graceEndsAt && status !== "cancelled"),
    (status === "suspended") === (graceEndsAt !== null && now >= graceEndsAt && status !== "cancelled"),
    (status === "cancelled") === (endsAt !== null),
    // What can be paid is paid.
    (status !== "grace" && status !== "suspended") || available < feeDue(account),
    // The period is the present one.
    endsAt !== null || (addMonths(state.activatedAt, state.period) <= now && now < periodEnd(state)),
    endsAt === null || !isUsable(state, endsAt),
  ].every(Boolean);
}

function sumOf({ charges }: AddonAccount): number {
  return charges.reduce((sum, { amount }) => sum + amount, 0);
}

/** The steps from which each status was reached. */
const seen = new Set<string>();

/** The rules of a step. */
function isLegalStep(before: Run, one: Step, after: Run): boolean {
  const [from, to] = [before.account.state, after.account.state];
  seen.add(`${from.status} > ${to.status}`);
  const feesBefore = before.account.charges.filter(({ type }) => type === "fee").length;
  const feesAfter = after.account.charges.filter(({ type }) => type === "fee").length;
  return [
    from.status !== "cancelled" || (to.status === "cancelled" && feesAfter === feesBefore),
    from.status === "trialing" || to.status !== "trialing",
    // The period in which the trial ends costs no fee.
    one.type !== "unit" || from.status !== "trialing" || (to.firstFeePeriod ?? Infinity) > to.period,
    // A suspension ends only if the wallet can pay everything, also when the add-on is cancelled.
    from.status !== "suspended" || to.status !== "grace",
    from.status !== "suspended" || one.type !== "cancel" || !isUsable(to, after.now),
    one.type !== "cancel" || from.status === "cancelled" || +periodEnd(from) === +(to.endsAt ?? 0),
    // Suspended for as long as the wallet is not credited; no period of it costs a fee.
    from.status !== "suspended" ||
      one.type !== "wait" ||
      (to.status === "suspended" && feesAfter === feesBefore),
    from.period <= to.period,
    // In many short steps instead of one long one.
    one.type !== "wait" || JSON.stringify(inHours(before, after.now)) === JSON.stringify(after.account),
  ].every(Boolean);
}

function inHours({ account, now }: Run, until: Date): AddonAccount {
  let current = account;
  for (let at = now.getTime(); at < until.getTime(); at += 17 * 3_600_000) {
    current = passTime(current, new Date(at));
  }
  return passTime(current, until);
}

test("100,000 random sequences keep every rule of the add-on, in short and in long steps", () => {
  fc.assert(
    fc.property(start, sequence, ({ now, hasTrial, trialUnits, available, ...prices }, steps) => {
      const state = startAddon(now, { hasTrial });
      const fresh = { state: hasTrial ? { ...state, trialUnits } : state, prices, available, charges: [] };
      const begun: Run = { account: chargeFee(fresh, now), now, units: 0, moved: 0 };
      let run = begun;
      return steps.every((one) => {
        const before = run;
        run = apply(before, one);
        return isLegal(run, begun) && isLegalStep(before, one, run);
      });
    }),
    randomRuns(3_000, 100_000),
  );
  const reached = ["trialing > active", "active > grace", "grace > suspended", "suspended > active"];
  expect([...seen]).toEqual(expect.arrayContaining([...reached, "grace > active", "grace > cancelled"]));
});
