/**
 * Rules: which calls of a key, or of an assistant through MCP, need a plan or a person first.
 *
 * A credential may be bound by several sets of rules: its own, those of the keys by which it was made, and
 * those of callers through MCP. A call has to satisfy all of them, so a key that a key makes is never freer.
 * Budgets limit what a holder of rules, or the organization, uses in a day and in a month.
 */
import { fail } from "../../../../tools/errors.ts";
import { rules as contract } from "../../../../tools/rules.ts";
import { defineRetentionJob, implement, type ReadContext } from "../../foundation/kernel/index.ts";
import { organizationHolder, readBudgetUse } from "./budgets/index.ts";
import { readSettings, saveRules, saveSettings, toolHolder } from "./store.ts";
import { requireValidRules } from "./validate.ts";

export {
  type BudgetedAct,
  budgetsOf,
  countActs,
  countLaterContacts,
  countNewContacts,
  countPricelessMessage,
  failReached,
  LaterBudgets,
  type ReachedLimit,
  readBudgetSets,
  readBudgetUse,
  readReached,
  selectBudgetSets,
  toLaterBudgets,
} from "./budgets/index.ts";
export {
  conditionsOf,
  hasOutsideHours,
  type MessageUse,
  requireAllowed,
  requireConditions,
  requireConditionsMet,
} from "./check.ts";
export {
  type ActFacts,
  dependsOnTargets,
  holdReasonsOf,
  isBroadcasting,
  isConfiguring,
  type Needs,
  needsOf,
} from "./needs.ts";
export {
  bindRules,
  holdersOf,
  readBoundRules,
  readBoundTo,
  readReleasedUnder,
  readRulesBoundTo,
  readRulesIn,
  readSettings,
  saveRules,
  selectBoundTo,
  selectRuleSets,
  selectToolRules,
} from "./store.ts";
export { requireValidRules } from "./validate.ts";

/** A change of the time zone may begin a day again. */
const keptDays = 2;

export const rules = implement(contract, {
  tables: ["rule_sets", "rule_bindings", "budget_uses"],
  operations: {
    async get_rules(_, context) {
      return { data: await showSettings(context) };
    },

    async set_rules({ mcp, ...settings }, context) {
      const { role } = context.caller;
      // Otherwise a limited role would raise its own limit.
      if (settings.release_limits !== undefined && role !== "owner") {
        throw fail("release_limits_by_owner", { role: role ?? "none" });
      }
      if (mcp !== undefined) {
        requireValidRules(mcp, "mcp");
        await saveRules(context, toolHolder, mcp);
      }
      const changed = Object.entries(settings).filter(([, value]) => value !== undefined);
      if (changed.length > 0) {
        await saveSettings(context, Object.fromEntries(changed));
      }
      return { data: await showSettings(context) };
    },
  },
  jobs: [
    defineRetentionJob({
      name: "budget.forget",
      schedule: "23 * * * *",
      rules: [{ table: "budget_uses", column: "ends_at", days: keptDays }],
    }),
  ],
});

async function showSettings({ db, organization, now }: ReadContext) {
  const { bound, ...settings } = await readSettings(db, organization);
  const uses = await readBudgetUse(db, organization, { budgets: bound, now });
  return {
    ...settings,
    mcp_budget_use: uses.get(toolHolder) ?? null,
    budget_use: uses.get(organizationHolder) ?? null,
  };
}
