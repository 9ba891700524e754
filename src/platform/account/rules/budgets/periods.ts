/** The day and the month of an instant in a time zone, and when they end. */
import type { BudgetPeriod } from "../../../../../tools/budgets.ts";
import { firstInstantOf, shownAt } from "../../../../time/zone.ts";

export interface Period {
  /** Like 2026-06-01 or 2026-06. */
  readonly name: string;
  /** When the next day or month begins. */
  readonly ends_at: string;
}

export function periodsAt(zone: string, now: Date): Readonly<Record<BudgetPeriod, Period>> {
  const today = new Date(shownAt(zone, now.getTime()));
  const [year, month, day] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()];
  const date = today.toISOString().slice(0, "2026-06-01".length);
  const beginsAt = (shown: number) => new Date(firstInstantOf(zone, shown)).toISOString();
  return {
    day: { name: date, ends_at: beginsAt(Date.UTC(year, month, day + 1)) },
    month: { name: date.slice(0, "2026-06".length), ends_at: beginsAt(Date.UTC(year, month + 1, 1)) },
  };
}
