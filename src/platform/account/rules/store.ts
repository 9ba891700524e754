/** Reads and writes rules, and whose rules bind what acts later. */
import { type RawBuilder, sql } from "kysely";
import { z } from "zod";
import { type BoundBudgets, Budgets } from "../../../../tools/budgets.ts";
import { type BoundRules, ReleaseLimits, Rules } from "../../../../tools/rules.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import {
  type Actor,
  type Caller,
  type OrganizationChange,
  recordOf,
  type WriteContext,
} from "../../foundation/kernel/index.ts";
import { organizationHolder, ruleSetAsJson, StoredRuleSet, toBoundBudgets } from "./budgets/index.ts";

/** Holds the rules of every caller through MCP. */
export const toolHolder = "mcp";

const Settings = z.object({
  approver_is_never_asker: z.boolean().default(false),
  release_limits: ReleaseLimits.nullable().default(null),
  budgets: Budgets.nullable().default(null),
});

/**
 * Part of a statement: the rules of a holder, of other holders and of callers through MCP, and the budgets of
 * the organization, as a JSON list. Null without any.
 */
export function selectRuleSets(organization: string, holder: string, others: string) {
  return sql<unknown>`(
    select json_agg(${ruleSetAsJson} order by rule_sets.holder)
    from rule_sets
    where rule_sets.organization_id = ${sql.ref(organization)} and (
      rule_sets.holder in (${sql.ref(holder)}, ${toolHolder}, ${organizationHolder})
      or rule_sets.holder = any(${sql.ref(others)})
    )
  )`;
}

/** Like `selectRuleSets`, for a person: without the rules of a key. */
export function selectToolRules(organization: string) {
  return sql<unknown>`(
    select json_agg(${ruleSetAsJson})
    from rule_sets
    where rule_sets.organization_id = ${sql.ref(organization)}
      and rule_sets.holder in (${toolHolder}, ${organizationHolder})
  )`;
}

interface RulesOfCredential {
  readonly rules: readonly BoundRules[];
  readonly toolRules: readonly BoundRules[];
  readonly budgets: readonly BoundBudgets[];
  readonly toolBudgets: readonly BoundBudgets[];
}

/**
 * The rules and budgets that bind all calls of a credential, and those that bind its calls through MCP
 * besides.
 */
export function readBoundRules(stored: unknown, holders: readonly string[]): RulesOfCredential {
  const sets = stored === null ? [] : z.array(StoredRuleSet).parse(stored);
  const isOwn = ({ holder }: StoredRuleSet) => holders.includes(holder) || holder === organizationHolder;
  const [own, ofTools] = [sets.filter(isOwn), sets.filter((one) => !isOwn(one))];
  return {
    rules: toBinding(own),
    toolRules: toBinding(ofTools),
    budgets: own.flatMap(toBoundBudgets),
    toolBudgets: ofTools.flatMap(toBoundBudgets),
  };
}

/** The rules that hold calls back. Rules that have budgets alone hold no call back before it runs. */
function toBinding(sets: readonly StoredRuleSet[]): readonly BoundRules[] {
  return sets
    .filter(({ holder }) => holder !== organizationHolder)
    .map(toBound)
    .filter(({ mode, approve, allow, budgets }) => {
      const asksNothing = mode === "auto" && Object.keys({ ...approve, ...allow }).length === 0;
      return !asksNothing || budgets === null;
    });
}

/** The rules of a holder among stored rule sets, and its budgets; null: none. */
export function readRulesIn(stored: unknown, holder: string) {
  const set = (stored === null ? [] : z.array(StoredRuleSet).parse(stored)).find(
    (one) => one.holder === holder,
  );
  return { rules: set ? Rules.parse(set.content) : null, budgets: set ? toBoundBudgets(set) : [] };
}

export function toBound({ holder, content }: StoredRuleSet): BoundRules {
  return { holder, ...Rules.parse(content) };
}

export async function readSettings(db: Queries, organization: string) {
  const { rows } = await sql<{ readonly sets: unknown }>`
    select json_agg(${ruleSetAsJson}) as sets
    from rule_sets
    where organization_id = ${organization} and holder in (${toolHolder}, ${organizationHolder})
  `.execute(db);
  const sets = z.array(StoredRuleSet).parse(rows[0]?.sets ?? []);
  const contentOf = (holder: string) => sets.find((row) => row.holder === holder)?.content;
  const mcp = contentOf(toolHolder);
  return {
    mcp: mcp === undefined ? null : Rules.parse(mcp),
    ...Settings.parse(contentOf(organizationHolder) ?? {}),
    bound: sets.flatMap(toBoundBudgets),
  };
}

/** Replaces the rules of a holder; null removes them. */
export async function saveRules(
  { tx, organization, actor, now }: WriteContext,
  holder: string,
  rules: Rules | null,
): Promise<void> {
  if (rules === null) {
    await ofOrganization(tx, organization).deleteFrom("rule_sets").where("holder", "=", holder).execute();
    return;
  }
  await saveRuleSet({ tx, organization, actor, now }, holder, rules);
}

/** Changes the given settings of the organization. */
export async function saveSettings(
  context: WriteContext,
  settings: {
    readonly [Name in keyof z.infer<typeof Settings>]?: z.infer<typeof Settings>[Name] | undefined;
  },
): Promise<void> {
  const stored = await ofOrganization(context.tx, context.organization)
    .selectFrom("rule_sets")
    .select("content")
    .where("holder", "=", organizationHolder)
    .forUpdate()
    .executeTakeFirst();
  await saveRuleSet(context, organizationHolder, { ...Settings.parse(stored?.content ?? {}), ...settings });
}

async function saveRuleSet(
  { tx, organization, actor, now }: Omit<OrganizationChange, "world">,
  holder: string,
  content: object,
): Promise<void> {
  const values = {
    content: JSON.stringify(content),
    changed_by: JSON.stringify(recordOf(actor)),
    changed_at: now.toISOString(),
  };
  await tx
    .insertInto("rule_sets")
    .values({ organization_id: organization, holder, ...values })
    .onConflict((conflict) => conflict.columns(["organization_id", "holder"]).doUpdateSet(values))
    .execute();
}

/**
 * Part of a statement: the rules that bind what acts later, by its id, and the budgets of the organization,
 * as JSON; null without any.
 */
export function selectBoundTo(organization: RawBuilder<string>, subject: RawBuilder<string>) {
  return sql`(
    select json_agg(${ruleSetAsJson})
    from rule_sets
    where rule_sets.organization_id = ${organization} and (
      rule_sets.holder = ${organizationHolder}
      or rule_sets.holder = any(array(
        select unnest(holders) from rule_bindings
        where rule_bindings.organization_id = ${organization} and rule_bindings.subject = ${subject}
      ))
    )
  )`;
}

interface RulesOfSubject {
  readonly rules: readonly BoundRules[];
  readonly budgets: readonly BoundBudgets[];
}

/** The rules and budgets in the result of `selectBoundTo`. */
export function readBoundTo(stored: unknown): RulesOfSubject {
  const sets = stored === null ? [] : z.array(StoredRuleSet).parse(stored);
  return { rules: toBinding(sets), budgets: sets.flatMap(toBoundBudgets) };
}

/** The rules and budgets that bind what acts later. */
export async function readRulesBoundTo(
  db: Queries,
  organization: string,
  subject: string,
): Promise<RulesOfSubject> {
  const { rows } = await sql<{ readonly rules: unknown }>`
    select ${selectBoundTo(sql<string>`${organization}`, sql<string>`${subject}`)} as rules
  `.execute(db);
  return readBoundTo(rows[0]?.rules ?? null);
}

/**
 * What binds a plan that a person has released for these holders: what their rules do not allow at all, and
 * their budgets.
 */
export async function readReleasedUnder(
  db: Queries,
  organization: string,
  holders: readonly string[],
): Promise<RulesOfSubject> {
  const { rows } = await sql<{ readonly rules: unknown }>`
    select json_agg(${ruleSetAsJson}) as rules
    from rule_sets
    where organization_id = ${organization} and holder = any(${[...holders, organizationHolder]}::text[])
  `.execute(db);
  const { rules, budgets } = readBoundTo(rows[0]?.rules ?? null);
  const limiting = rules.filter(({ allow }) => Object.keys(allow).length > 0);
  return { rules: limiting.map((one) => ({ ...one, mode: "auto", approve: {} })), budgets };
}

/**
 * Whose rules and budgets bind what a call makes. The rules of a key count as they will be, also if it has
 * none now. The budgets of the organization always count, so the organization is not listed.
 */
export function holdersOf(
  { rules = [], budgets = [] }: Pick<Actor, "rules" | "budgets">,
  { credential, rule_holders }: Pick<Caller, "rule_holders" | "credential">,
): string[] {
  const own = credential.type === "api_key" ? [credential.id] : [];
  const called = [...rules, ...budgets].map(({ holder }) => holder);
  const holders = new Set([...own, ...rule_holders, ...called]);
  return [...holders].filter((holder) => holder !== organizationHolder);
}

/**
 * Binds what acts later, such as a flow, by the rules of who saves it, as these will be then. What a
 * person saves or releases is free.
 */
export async function bindRules(
  { tx, organization, actor }: Pick<OrganizationChange, "tx" | "organization" | "actor">,
  subject: string,
  caller: Pick<Caller, "rule_holders" | "credential">,
): Promise<void> {
  const { credential, rule_holders } = caller;
  const isKey = credential.type === "api_key";
  const acting = actor.exceedsBudgets ? { ...actor, rules: [], budgets: [] } : actor;
  const holders = holdersOf(acting, { credential, rule_holders: isKey ? rule_holders : [] });
  await ofOrganization(tx, organization).deleteFrom("rule_bindings").where("subject", "=", subject).execute();
  if (holders.length > 0) {
    await tx
      .insertInto("rule_bindings")
      .values({ organization_id: organization, subject, holders })
      .execute();
  }
}
