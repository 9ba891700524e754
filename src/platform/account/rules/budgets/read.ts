/** Shows what is used of budgets. */
import { sql } from "kysely";
import type { z } from "zod";
import type { BoundBudgets, BudgetKind, BudgetPeriod, BudgetUse } from "../../../../../tools/budgets.ts";
import { fromMicros } from "../../../../../tools/money.ts";
import type { Queries } from "../../../../database/database.ts";
import { columnsOf, type RowOf, rowsOf } from "../../../../database/query/index.ts";
import { periodsAt } from "./periods.ts";
import { columnOfKind } from "./rows.ts";

type Shown = z.input<typeof BudgetUse>;

const columns = columnsOf(
  "budget_uses",
  "holder",
  "period",
  "message_count",
  "contact_count",
  "spend",
  "simulated_spend",
);

/** What is used of the budgets now, by holder. Without budgets no statement is sent. */
export async function readBudgetUse(
  db: Queries,
  organization: string,
  { budgets, now }: { readonly budgets: readonly BoundBudgets[]; readonly now: Date },
): Promise<ReadonlyMap<string, Shown>> {
  if (budgets.length === 0) {
    return new Map();
  }
  const holders = budgets.map(({ holder }) => holder);
  const periods = budgets.flatMap(({ time_zone }) => Object.values(periodsAt(time_zone, now)));
  const { rows } = await rowsOf(columns)`
    select ${sql.join(Object.keys(columns).map((name) => sql.ref(name)))} from budget_uses
    where organization_id = ${organization} and holder = any(${holders}::text[])
      and period = any(${[...new Set(periods.map(({ name }) => name))]}::text[])
  `.execute(db);
  return new Map(budgets.map((one) => [one.holder, show(one, { rows, now })]));
}

type Row = RowOf<typeof columns>;

function show(
  budgets: BoundBudgets,
  { rows, now }: { readonly rows: readonly Row[]; readonly now: Date },
): Shown {
  const periods = periodsAt(budgets.time_zone, now);
  const rowIn = (period: BudgetPeriod) =>
    rows.find((row) => row.holder === budgets.holder && row.period === periods[period].name);
  const use = (kind: BudgetKind, period: BudgetPeriod) => ({
    limit: budgets[kind]?.[period] ?? null,
    used: rowIn(period)?.[columnOfKind[kind]] ?? 0,
    renews_at: periods[period].ends_at,
  });
  const spent = (period: BudgetPeriod) => {
    const { used, ...rest } = use("spend", period);
    const used_simulated = fromMicros(rowIn(period)?.simulated_spend ?? 0);
    return { ...rest, used: fromMicros(used), used_simulated };
  };
  return {
    messages: { day: use("messages", "day"), month: use("messages", "month") },
    new_contacts: { day: use("new_contacts", "day"), month: use("new_contacts", "month") },
    spend: { day: spent("day"), month: spent("month") },
  };
}
