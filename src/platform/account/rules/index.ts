/**
 * Rules: which calls of a key, or of an assistant through MCP, need a plan or a person first.
 *
 * A credential may be bound by several sets of rules: its own, those of the keys by which it was made, and
 * those of callers through MCP. A call has to satisfy all of them, so a key that a key makes is never freer.
 */
import { rules as contract } from "../../../../tools/rules.ts";
import { implement } from "../../foundation/kernel/index.ts";
import { readSettings, saveRules, saveSettings, toolHolder } from "./store.ts";

export { hasOutsideHours, type MessageUse, requireAllowed } from "./check.ts";
export { type ActFacts, dependsOnTargets, isConfiguring, type Needs, needsOf } from "./needs.ts";
export {
  bindRules,
  readBoundRules,
  readBoundTo,
  readRulesBoundTo,
  readRulesOf,
  readSettings,
  saveRules,
  selectBoundTo,
  selectRuleSets,
  selectToolRules,
} from "./store.ts";

export const rules = implement(contract, {
  tables: ["rule_sets", "rule_bindings"],
  operations: {
    async get_rules(_, { db, organization }) {
      return { data: await readSettings(db, organization) };
    },

    async set_rules({ mcp, approver_is_never_asker }, context) {
      if (mcp !== undefined) {
        await saveRules(context, toolHolder, mcp);
      }
      if (approver_is_never_asker !== undefined) {
        await saveSettings(context, { approver_is_never_asker });
      }
      return { data: await readSettings(context.tx, context.organization) };
    },
  },
});
