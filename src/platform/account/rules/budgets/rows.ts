/** The rows of what is used: one for each holder of budgets and each day and month. */
import type { BudgetKind } from "../../../../../tools/budgets.ts";
import { columnsOf, recordset, rowsOf } from "../../../../database/query/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";

const amounts = ["message_count", "contact_count", "spend", "simulated_spend"] as const;
type Amount = (typeof amounts)[number];

/** Money in millionths of the currency's unit. */
export type UsedAmounts = Readonly<Record<Amount, number>>;

export const noAmounts: UsedAmounts = { message_count: 0, contact_count: 0, spend: 0, simulated_spend: 0 };

/** The column of each kind. Simulated money has the column `simulated_spend` instead. */
export const columnOfKind: Readonly<Record<BudgetKind, Amount>> = {
  messages: "message_count",
  new_contacts: "contact_count",
  spend: "spend",
};

export interface UsedRow extends UsedAmounts {
  readonly organization_id: string;
  readonly holder: string;
  readonly period: string;
  readonly ends_at: string;
}

type RowKey = Pick<UsedRow, "organization_id" | "holder" | "period">;

export function keyOfRow({ organization_id, holder, period }: RowKey): string {
  return JSON.stringify([organization_id, holder, period]);
}

export function addAmounts(one: UsedAmounts, other: UsedAmounts): UsedAmounts {
  const sums = amounts.map((name) => [name, one[name] + other[name]] as const);
  return { ...noAmounts, ...Object.fromEntries(sums) };
}

export function subtractAmounts(one: UsedAmounts, other: UsedAmounts): UsedAmounts {
  const differences = amounts.map((name) => [name, one[name] - other[name]] as const);
  return { ...noAmounts, ...Object.fromEntries(differences) };
}

/** One row for each key. */
export function sumRows(rows: readonly UsedRow[]): readonly UsedRow[] {
  const sums = new Map<string, UsedRow>();
  for (const row of rows) {
    const before = sums.get(keyOfRow(row));
    sums.set(keyOfRow(row), before ? { ...row, ...addAmounts(before, row) } : row);
  }
  return [...sums.values()];
}

const keyColumns = columnsOf("budget_uses", "organization_id", "holder", "period");
const amountColumns = columnsOf("budget_uses", ...amounts);
const rowColumns = { ...keyColumns, ...columnsOf("budget_uses", "ends_at"), ...amountColumns };

/**
 * Adds to the rows, which stay locked until the commit. They are locked in one order, so that two
 * transactions do not deadlock. Without rows no statement is sent.
 * @returns the totals, by `keyOfRow`.
 */
export async function addToRows(
  tx: Transaction,
  rows: readonly UsedRow[],
): Promise<ReadonlyMap<string, UsedAmounts>> {
  if (rows.length === 0) {
    return new Map();
  }
  const { rows: totals } = await rowsOf({ ...keyColumns, ...amountColumns })`
    insert into budget_uses
      (organization_id, holder, period, ends_at, message_count, contact_count, spend, simulated_spend)
    select organization_id, holder, period, ends_at, message_count, contact_count, spend, simulated_spend
    from ${recordset("added", rowColumns, rows)}
    order by organization_id, holder, period
    on conflict (organization_id, holder, period) do update set
      message_count = budget_uses.message_count + excluded.message_count,
      contact_count = budget_uses.contact_count + excluded.contact_count,
      spend = budget_uses.spend + excluded.spend,
      simulated_spend = budget_uses.simulated_spend + excluded.simulated_spend
    returning organization_id, holder, period, message_count, contact_count, spend, simulated_spend
  `.execute(tx);
  return new Map(totals.map((row) => [keyOfRow(row), row]));
}
