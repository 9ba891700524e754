/** Rules while a person edits them: numbers and lists are texts, so that a wrong one is kept and named. */
import type { Answer } from "../../service/call.ts";

export type Rules = NonNullable<Answer<"list_api_keys">["data"][number]["rules"]>;
export type Budgets = NonNullable<Rules["budgets"]>;
export type BudgetUse = NonNullable<Answer<"get_rules">["data"]["budget_use"]>;

export const budgetKinds = ["messages", "new_contacts", "spend"] as const;
export const budgetPeriods = ["day", "month"] as const;
export const switches = [
  "delete",
  "export",
  "configure",
  "broadcasts",
  "new_contacts",
  "outside_hours",
] as const;
export const limits = ["recipients_above", "amount_above"] as const;
export const lists = ["operations", "inboxes", "templates", "cohorts", "countries"] as const;

export type ListName = (typeof lists)[number];
type BudgetName = `${(typeof budgetKinds)[number]}.${(typeof budgetPeriods)[number]}`;

export interface BudgetDraft {
  /** Empty: no limit. */
  readonly amounts: Readonly<Record<BudgetName, string>>;
  readonly beyond: Budgets["beyond"];
}

export interface RulesDraft {
  readonly mode: Rules["mode"];
  readonly switches: Readonly<Record<(typeof switches)[number], boolean>>;
  /** Empty: no limit. */
  readonly limits: Readonly<Record<(typeof limits)[number], string>>;
  /** Empty: everything is allowed. */
  readonly lists: Readonly<Record<ListName, readonly string[]>>;
  readonly when: Rules["allow"]["when"];
  readonly budgets: BudgetDraft;
}

function mapNames<Name extends string, Value>(
  names: readonly Name[],
  read: (name: Name) => Value,
): Record<Name, Value> {
  // Every name has an entry.
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Record<Name, Value>;
}

export function toBudgetDraft(budgets: Budgets | null): BudgetDraft {
  const names = budgetKinds.flatMap((kind) => budgetPeriods.map((period) => `${kind}.${period}` as const));
  const amounts = Object.fromEntries(
    budgetKinds.flatMap((kind) =>
      budgetPeriods.map((period) => [`${kind}.${period}`, toText(budgets?.[kind]?.[period])]),
    ),
  );
  return { amounts: mapNames(names, (name) => amounts[name] ?? ""), beyond: budgets?.beyond ?? "park" };
}

export function toDraft(rules: Rules | null): RulesDraft {
  return {
    mode: rules?.mode ?? "auto",
    switches: mapNames(switches, (name) => rules?.approve[name] ?? false),
    limits: mapNames(limits, (name) => toText(rules?.approve[name])),
    lists: mapNames(lists, (name) => rules?.allow[name] ?? []),
    when: rules?.allow.when,
    budgets: toBudgetDraft(rules?.budgets ?? null),
  };
}

function toText(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}

/** Null for an empty text. What is no number goes to the service as it is, which names the field. */
export function toLimit(text: string): number | null {
  const trimmed = text.trim();
  const value: unknown = trimmed === "" ? null : Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed);
  return value as number | null; // the service checks the type of every field
}

/** Null without any limit. */
export function fromBudgetDraft({ amounts, beyond }: BudgetDraft): Budgets | null {
  const kinds = mapNames(budgetKinds, (kind) => {
    const [day, month] = budgetPeriods.map((period) => toLimit(amounts[`${kind}.${period}`]));
    return isNone(day) && isNone(month) ? null : { day: day ?? null, month: month ?? null };
  });
  return Object.values(kinds).every((kind) => kind === null) ? null : { ...kinds, beyond };
}

function isNone(value: number | null | undefined): boolean {
  return value === null || value === undefined;
}

/** Null if the rules say nothing. */
export function fromDraft(draft: RulesDraft): Rules | null {
  const approve = {
    ...Object.fromEntries(switches.filter((name) => draft.switches[name]).map((name) => [name, true])),
    ...Object.fromEntries(
      limits.flatMap((name) => {
        const limit = toLimit(draft.limits[name]);
        return limit === null ? [] : [[name, limit]];
      }),
    ),
  };
  const allow = {
    ...Object.fromEntries(
      lists.filter((name) => draft.lists[name].length > 0).map((name) => [name, [...draft.lists[name]]]),
    ),
    ...(draft.when === undefined ? {} : { when: draft.when }),
  };
  const budgets = fromBudgetDraft(draft.budgets);
  const isEmpty = [approve, allow].every((part) => Object.keys(part).length === 0);
  return draft.mode === "auto" && isEmpty && budgets === null
    ? null
    : { mode: draft.mode, approve, allow, budgets };
}
