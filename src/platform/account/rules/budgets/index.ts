/** Budgets: whose count an act, how they are counted, and what is used of them. */
export {
  LaterBudgets,
  organizationHolder,
  readBudgetSets,
  readBudgetsOf,
  ruleSetAsJson,
  StoredRuleSet,
  selectBudgetSets,
  toBoundBudgets,
  toLaterBudgets,
} from "./bound.ts";
export {
  type BudgetedAct,
  budgetsOf,
  countActs,
  countLaterContacts,
  countNewContacts,
  countPricelessMessage,
} from "./count.ts";
export { failReached, type ReachedLimit, readReached } from "./reached.ts";
export { readBudgetUse } from "./read.ts";
