/** Whose budgets count an act. They are stored with the rules of a holder and read in the same statements. */
import { sql } from "kysely";
import { z } from "zod";
import { type BoundBudgets, Budgets, budgetKinds } from "../../../../../tools/budgets.ts";
import type { Queries } from "../../../../database/database.ts";
import type { Actor } from "../../../foundation/kernel/index.ts";

/** Holds the budgets of the organization beside its settings. They count every message. */
export const organizationHolder = "organization";

export const StoredRuleSet = z.object({
  holder: z.string(),
  content: z.unknown(),
  /** Of the organization; null without budgets. */
  time_zone: z.string().nullish(),
});
export type StoredRuleSet = z.infer<typeof StoredRuleSet>;

/** Part of a statement: a row of `rule_sets` as JSON. */
export const ruleSetAsJson = sql`json_build_object(
  'holder', rule_sets.holder,
  'content', rule_sets.content,
  'time_zone', case when jsonb_typeof(rule_sets.content -> 'budgets') = 'object' then (
    select organizations.time_zone from organizations where organizations.id = rule_sets.organization_id
  ) end
)`;

const WithBudgets = z.object({ budgets: Budgets.nullable().default(null) });

/** The budgets in a rule set; none if it limits nothing. */
export function toBoundBudgets({ holder, content, time_zone }: StoredRuleSet): readonly BoundBudgets[] {
  const { budgets } = WithBudgets.parse(content);
  return budgets && time_zone && isLimiting(budgets) ? [{ holder, time_zone, ...budgets }] : [];
}

function isLimiting(budgets: Budgets): boolean {
  return budgetKinds.some((kind) => budgets[kind]?.day != null || budgets[kind]?.month != null);
}

/** Whose budgets count what a job does later, beside the organization's. A person's job exceeds them. */
export const LaterBudgets = z.object({
  budget_holders: z.array(z.string()).default([]),
  exceeds_budgets: z.boolean().default(false),
});
export type LaterBudgets = z.infer<typeof LaterBudgets>;

/** The budgets of an actor, for what it does later. The holders `before` keep counting. */
export function toLaterBudgets(
  { budgets = [], exceedsBudgets = false }: Pick<Actor, "budgets" | "exceedsBudgets">,
  before: readonly string[] = [],
): LaterBudgets {
  const holders = budgets.map(({ holder }) => holder);
  return { budget_holders: [...new Set([...before, ...holders])], exceeds_budgets: exceedsBudgets };
}

/** Part of a statement: the rule sets with the budgets of these holders and of the organization, as JSON. */
export function selectBudgetSets(organization: string, holders: string) {
  return sql<unknown>`(
    select json_agg(${ruleSetAsJson})
    from rule_sets
    where rule_sets.organization_id = ${sql.ref(organization)}
      and (rule_sets.holder = ${organizationHolder} or rule_sets.holder = any(${sql.ref(holders)}))
  )`;
}

/** The budgets in stored rule sets. */
export function readBudgetSets(stored: unknown): readonly BoundBudgets[] {
  return stored === null ? [] : z.array(StoredRuleSet).parse(stored).flatMap(toBoundBudgets);
}

/** The budgets of these holders, and of the organization. */
export async function readBudgetsOf(
  db: Queries,
  organization: string,
  holders: readonly string[],
): Promise<readonly BoundBudgets[]> {
  const { rows } = await sql<{ readonly sets: unknown }>`
    select json_agg(${ruleSetAsJson}) as sets
    from rule_sets
    where organization_id = ${organization} and holder = any(${[...holders, organizationHolder]}::text[])
  `.execute(db);
  return readBudgetSets(rows[0]?.sets ?? null);
}
