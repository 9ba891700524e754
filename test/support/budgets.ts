/** Keys with budgets in a test, and what is used of them. */
import { apiKeys } from "../../tools/api-keys.ts";
import type { InputOf } from "../../tools/contract/index.ts";
import { rules } from "../../tools/rules.ts";
import type { TestApp } from "./app.ts";
import { createApprovalHelpers, type RulesInput } from "./approvals.ts";

type BudgetsInput = NonNullable<NonNullable<RulesInput>["budgets"]>;

export function createBudgetHelpers(app: TestApp) {
  const approvals = createApprovalHelpers(app);
  return {
    ...approvals,

    /** A key that has these budgets and no other rules. */
    createBudgetedKey: (budgets: BudgetsInput) => approvals.createKey({ budgets }),

    setOrganizationBudgets: (budgets: InputOf<typeof rules.set_rules>["budgets"]) =>
      app.call(rules.set_rules, { budgets }),

    useOf: async (id: string) => {
      const { data } = await app.call(apiKeys.list_api_keys, {});
      return data.find((key) => key.id === id)?.budget_use;
    },

    useOfOrganization: async () => (await app.call(rules.get_rules, {})).data.budget_use,
  };
}

/** A budget of messages in a day. */
export const messagesADay = (day: number): BudgetsInput => ({ messages: { day } });
