/** Rules in words. */
import { session } from "../../session/session.ts";
import { texts } from "../../texts.ts";
import {
  type Budgets,
  type BudgetUse,
  budgetKinds,
  budgetPeriods,
  lists,
  type Rules,
  switches,
} from "./draft.ts";

const { rules: words, allow, budgets: budgetWords } = texts.settings;

/** @param use what is used of the budgets */
export function describeRules(rules: Rules | null, use: BudgetUse | null): string[] {
  if (rules === null) {
    return [words.none];
  }
  const { recipients_above, amount_above } = rules.approve;
  return [
    ...(rules.mode === "auto" ? [] : [words.modes[rules.mode]]),
    ...(recipients_above === undefined ? [] : [words.waits.recipients_above(recipients_above)]),
    ...(amount_above === undefined ? [] : [words.waits.amount_above(inCurrency(amount_above))]),
    ...switches.filter((name) => rules.approve[name]).map((name) => words.waits[name]),
    ...lists.flatMap((name) => {
      const list = rules.allow[name];
      return list === undefined ? [] : [allow.only(allow.lists[name], list.join(", "))];
    }),
    ...(rules.allow.when === undefined ? [] : [allow.when]),
    ...describeBudgets(rules.budgets, use),
  ];
}

function describeBudgets(budgets: Budgets | null, use: BudgetUse | null): string[] {
  return budgetKinds.flatMap((kind) =>
    budgetPeriods.flatMap((period) => {
      const limit = budgets?.[kind]?.[period] ?? null;
      return limit === null
        ? []
        : [describeBudget({ kind, period, limit, used: use?.[kind][period].used ?? 0 })];
    }),
  );
}

interface LimitedUse {
  readonly kind: (typeof budgetKinds)[number];
  readonly period: (typeof budgetPeriods)[number];
  readonly limit: number;
  readonly used: number;
}

function describeBudget({ kind, period, limit, used }: LimitedUse): string {
  const format = kind === "spend" ? inCurrency : budgetWords.count;
  return budgetWords.most(budgetWords.limits[`${kind}.${period}`], format(limit), format(used));
}

/** An amount in the currency of the organization. */
function inCurrency(amount: number): string {
  const { currency } = session.value?.organization ?? {};
  return currency === undefined ? budgetWords.count(amount) : texts.approvals.money({ amount, currency });
}
