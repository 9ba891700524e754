/** The release of a plan by a person: its run counts as the act of who asked for it. */
import { readReleasedUnder } from "../../../account/rules/index.ts";
import type { WriteContext } from "../../../foundation/kernel/index.ts";
import type { Release } from "../run.ts";
import type { PlanRow } from "../store.ts";
import { type PlanDecision, releasePlan } from "./decide.ts";

export function releaseBy(decision: PlanDecision): Release {
  return {
    hash: decision.hash,
    store: (context, plan) => releasePlan(context, plan, decision),
    act: toAsker,
  };
}

/** Runs for who asked: also a key that the run makes has the rules under which it was asked for. */
export async function toAsker(context: WriteContext, plan: PlanRow): Promise<WriteContext> {
  const { tx, organization, caller, actor } = context;
  const { asked_under, created_by } = plan;
  // It counts on the budgets of who asked, and none of them holds it back. What is not allowed stays refused.
  const { rules, budgets } = await readReleasedUnder(tx, organization, asked_under);
  return {
    ...context,
    caller: { ...caller, rule_holders: [...new Set([...caller.rule_holders, ...asked_under])] },
    actor: { ...actor, ...created_by, ...(rules.length > 0 && { rules }), budgets, exceedsBudgets: true },
  };
}
