/** Reads and writes rules, and whose rules bind what acts later. */
import { type RawBuilder, sql } from "kysely";
import { z } from "zod";
import { type BoundRules, Rules } from "../../../../tools/rules.ts";
import type { Queries } from "../../../database/database.ts";
import { ofOrganization } from "../../../database/query/index.ts";
import {
  type Caller,
  type OrganizationChange,
  recordOf,
  type WriteContext,
} from "../../foundation/kernel/index.ts";

/** Holds the rules of every caller through MCP. */
export const toolHolder = "mcp";
/** Holds the settings of the organization. */
const settingsHolder = "organization";

const Settings = z.object({ approver_is_never_asker: z.boolean().default(false) });

export const StoredRuleSet = z.object({ holder: z.string(), content: z.unknown() });
type StoredRuleSet = z.infer<typeof StoredRuleSet>;

/**
 * Part of a statement: the rules of a holder, of other holders and of callers through MCP, as a JSON list.
 * Null without rules.
 */
export function selectRuleSets(organization: string, holder: string, others: string) {
  return sql<unknown>`(
    select json_agg(json_build_object('holder', rule_sets.holder, 'content', rule_sets.content) order by rule_sets.holder)
    from rule_sets
    where rule_sets.organization_id = ${sql.ref(organization)} and (
      rule_sets.holder in (${sql.ref(holder)}, ${toolHolder}) or rule_sets.holder = any(${sql.ref(others)})
    )
  )`;
}

/** Like `selectRuleSets`, for a person: only the rules of callers through MCP. */
export function selectToolRules(organization: string) {
  return sql<unknown>`(
    select json_agg(json_build_object('holder', rule_sets.holder, 'content', rule_sets.content))
    from rule_sets
    where rule_sets.organization_id = ${sql.ref(organization)} and rule_sets.holder = ${toolHolder}
  )`;
}

/** The rules that bind all calls of a credential, and those that bind its calls through MCP besides. */
export function readBoundRules(
  stored: unknown,
  holders: readonly string[],
): { readonly rules: readonly BoundRules[]; readonly toolRules: readonly BoundRules[] } {
  const sets = stored === null ? [] : z.array(StoredRuleSet).parse(stored).map(toBound);
  return {
    rules: sets.filter(({ holder }) => holders.includes(holder)),
    toolRules: sets.filter(({ holder }) => !holders.includes(holder)),
  };
}

export function toBound({ holder, content }: StoredRuleSet): BoundRules {
  return { holder, ...Rules.parse(content) };
}

export async function readSettings(db: Queries, organization: string) {
  const rows = await ofOrganization(db, organization)
    .selectFrom("rule_sets")
    .select(["holder", "content"])
    .where("holder", "in", [toolHolder, settingsHolder])
    .execute();
  const contentOf = (holder: string) => rows.find((row) => row.holder === holder)?.content;
  const mcp = contentOf(toolHolder);
  return {
    mcp: mcp === undefined ? null : Rules.parse(mcp),
    ...Settings.parse(contentOf(settingsHolder) ?? {}),
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

export async function saveSettings(context: WriteContext, settings: z.infer<typeof Settings>): Promise<void> {
  await saveRuleSet(context, settingsHolder, settings);
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

/** The rules of each of these holders that has some. */
export async function readRulesOf(
  db: Queries,
  organization: string,
  holders: readonly string[],
): Promise<readonly BoundRules[]> {
  if (holders.length === 0) {
    return [];
  }
  const rows = await ofOrganization(db, organization)
    .selectFrom("rule_sets")
    .select(["holder", "content"])
    .where("holder", "in", holders)
    .execute();
  return rows.map(toBound);
}

/** Part of a statement: the rules that bind what acts later, by its id, as JSON; null without rules. */
export function selectBoundTo(organization: RawBuilder<string>, subject: RawBuilder<string>) {
  return sql`(
    select json_agg(json_build_object('holder', rule_sets.holder, 'content', rule_sets.content))
    from rule_bindings
    join rule_sets on rule_sets.organization_id = rule_bindings.organization_id
      and rule_sets.holder = any(rule_bindings.holders)
    where rule_bindings.organization_id = ${organization} and rule_bindings.subject = ${subject}
  )`;
}

/** The rules in the result of `selectBoundTo`. */
export function readBoundTo(stored: unknown): readonly BoundRules[] {
  return stored === null ? [] : z.array(StoredRuleSet).parse(stored).map(toBound);
}

/** The rules that bind what acts later. */
export async function readRulesBoundTo(
  db: Queries,
  organization: string,
  subject: string,
): Promise<readonly BoundRules[]> {
  const { rows } = await sql<{ readonly rules: unknown }>`
    select ${selectBoundTo(sql<string>`${organization}`, sql<string>`${subject}`)} as rules
  `.execute(db);
  return readBoundTo(rows[0]?.rules ?? null);
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
  const called = (actor.rules ?? []).map(({ holder }) => holder);
  // The rules of a key count as they will be, also if it has none now.
  const own = caller.credential.type === "api_key" ? [caller.credential.id, ...caller.rule_holders] : [];
  const holders = [...new Set([...own, ...called])];
  await ofOrganization(tx, organization).deleteFrom("rule_bindings").where("subject", "=", subject).execute();
  if (holders.length > 0) {
    await tx
      .insertInto("rule_bindings")
      .values({ organization_id: organization, subject, holders })
      .execute();
  }
}
