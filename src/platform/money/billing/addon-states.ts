/**
 * The states of the chatbot add-on, as pure functions of the add-on, the time, and what the wallet can pay.
 *
 * trialing → active: the last unit of the trial was used. From then on each unit is charged, and a fee for
 * each new period. active → grace: a charge took the wallet below zero; the add-on is charged all the same,
 * so the wallet owes the amount. grace → suspended: after 7 days below zero. grace, suspended → active: the
 * wallet is above zero again and can pay a fee that is due. Any state → cancelled: until the period ends, the
 * add-on works and is charged as before, but one that was suspended only works once the wallet can pay. No
 * further period begins.
 */
import { type AddonStatus, addonTerms } from "../../../../tools/billing.ts";
import { addMonths } from "./periods.ts";

export interface AddonState {
  readonly status: AddonStatus;
  readonly trialUnits: number;
  /** When period 0 began. */
  readonly activatedAt: Date;
  /** The current period, from 0. */
  readonly period: number;
  /** The first period whose fee is charged; null during the trial. */
  readonly firstFeePeriod: number | null;
  /** The last period whose fee was charged, or -1. */
  readonly feeChargedThrough: number;
  /** Null: the wallet owes nothing. */
  readonly graceEndsAt: Date | null;
  /** Null: the add-on is not cancelled. */
  readonly endsAt: Date | null;
}

/** In millionths of the currency's unit. */
export interface AddonPrices {
  readonly costPerUnit: number;
  readonly monthlyFee: number;
}

export type AddonCharge =
  | { readonly type: "usage"; readonly amount: number }
  | { readonly type: "fee"; readonly amount: number; readonly period: number };

/** An add-on, what its wallet can pay, and its charges so far. */
export interface AddonAccount {
  readonly state: AddonState;
  readonly prices: AddonPrices;
  /** Infinity if the wallet may pay any amount. */
  readonly available: number;
  readonly charges: readonly AddonCharge[];
}

const graceMs = addonTerms.gracePeriodDays * 24 * 3_600_000;

/** A new add-on. Without a trial it is active at once, and the fee of its first period is due. */
export function startAddon(now: Date, { hasTrial }: { readonly hasTrial: boolean }): AddonState {
  return {
    status: hasTrial ? "trialing" : "active",
    trialUnits: hasTrial ? addonTerms.trialUnits : 0,
    activatedAt: now,
    period: 0,
    firstFeePeriod: hasTrial ? null : 0,
    feeChargedThrough: -1,
    graceEndsAt: null,
    endsAt: null,
  };
}

export function periodEnd({ activatedAt, period }: AddonState): Date {
  return addMonths(activatedAt, period + 1);
}

/**
 * The amount that must be available for a new or suspended add-on to become active: the fee of the current
 * period, if it is due.
 */
export function feeDue({ state, prices }: Pick<AddonAccount, "state" | "prices">): number {
  const { firstFeePeriod, period, feeChargedThrough, endsAt } = state;
  const isDue = endsAt === null && firstFeePeriod !== null && period >= firstFeePeriod;
  return isDue && period > feeChargedThrough ? prices.monthlyFee : 0;
}

/** Whether answers may be given: not while the add-on is suspended, nor after it has ended. */
export function isUsable({ status, graceEndsAt, endsAt }: AddonState, now: Date): boolean {
  if (status === "cancelled") {
    return !hasEnded({ endsAt }, now) && (graceEndsAt === null || now < graceEndsAt);
  }
  return status !== "suspended";
}

export function hasEnded({ endsAt }: Pick<AddonState, "endsAt">, now: Date): boolean {
  return endsAt !== null && now >= endsAt;
}

/**
 * Applies everything that time and money have changed until now. One long step has the same result as many
 * short steps.
 */
export function passTime(account: AddonAccount, now: Date): AddonAccount {
  let current = resume(account, now);
  let change = nextChange(current.state);
  while (change !== undefined && change.at <= now) {
    current = change.apply(current, change.at);
    change = nextChange(current.state);
  }
  return current;
}

/** Counts one unit, paid by the trial or by the wallet. */
export function useUnit(account: AddonAccount, now: Date): AddonAccount {
  const { state, prices } = account;
  if (state.trialUnits === 0) {
    return charge(account, { type: "usage", amount: prices.costPerUnit }, now);
  }
  const trialUnits = state.trialUnits - 1;
  const isOver = trialUnits === 0 && state.status === "trialing";
  const ended = { status: "active", firstFeePeriod: state.period + 1 } as const;
  return { ...account, state: { ...state, trialUnits, ...(isOver ? ended : {}) } };
}

/** Cancels the add-on. A suspended add-on gives no answers until its period ends or the wallet can pay. */
export function cancelAddon(state: AddonState): AddonState {
  return { ...state, status: "cancelled", endsAt: periodEnd(state) };
}

/** Charges the fee of the current period if it is due and has not been charged. */
export function chargeFee(account: AddonAccount, now: Date): AddonAccount {
  const { state } = account;
  const amount = feeDue(account);
  if (amount === 0) {
    return account;
  }
  const charged = { ...account, state: { ...state, feeChargedThrough: state.period } };
  return charge(charged, { type: "fee", amount, period: state.period }, now);
}

interface Change {
  readonly at: Date;
  apply(account: AddonAccount, at: Date): AddonAccount;
}

function nextChange(state: AddonState): Change | undefined {
  if (state.status === "cancelled") {
    return undefined;
  }
  const end = periodEnd(state);
  return state.status === "grace" && state.graceEndsAt !== null && state.graceEndsAt <= end
    ? { at: state.graceEndsAt, apply: suspend }
    : { at: end, apply: startNextPeriod };
}

function suspend(account: AddonAccount): AddonAccount {
  return { ...account, state: { ...account.state, status: "suspended" } };
}

function startNextPeriod(account: AddonAccount, at: Date): AddonAccount {
  const { state } = account;
  const next = { ...account, state: { ...state, period: state.period + 1 } };
  return state.status === "suspended" ? next : chargeFee(next, at);
}

/** Ends the grace period or the suspension if the wallet can pay everything. */
function resume(account: AddonAccount, now: Date): AddonAccount {
  const { state, available } = account;
  if (state.graceEndsAt === null || available - feeDue(account) < 0) {
    return account;
  }
  const status = state.status === "cancelled" ? state.status : "active";
  return chargeFee({ ...account, state: { ...state, status, graceEndsAt: null } }, now);
}

/** Charges the amount in any case. If the wallet falls below zero, the grace period begins. */
function charge(account: AddonAccount, one: AddonCharge, now: Date): AddonAccount {
  if (one.amount === 0) {
    return account;
  }
  const available = account.available - one.amount;
  const { state } = account;
  const isUnpaid = available < 0 && state.graceEndsAt === null;
  const unpaid = {
    status: state.status === "active" ? ("grace" as const) : state.status,
    graceEndsAt: new Date(now.getTime() + graceMs),
  };
  return {
    ...account,
    available,
    charges: [...account.charges, one],
    state: isUnpaid ? { ...state, ...unpaid } : state,
  };
}
