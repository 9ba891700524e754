/**
 * Counts acts on the budgets that bind them.
 *
 * Each holder has one row for a day and one for a month. The transaction that accepts messages adds their
 * numbers to these rows, which stay locked until it ends, so the totals that it gets back are exact over all
 * processes. What does not fit is taken back by a second statement of the same transaction, so a row never
 * shows it. A transaction that fails counts nothing. All transactions lock the rows in the same order, after
 * the conversations of their messages.
 */
import {
  type BoundBudgets,
  type BudgetKind,
  type BudgetPeriod,
  budgetKinds,
  budgetPeriods,
} from "../../../../../tools/budgets.ts";
import { fromMicros, toMicros } from "../../../../../tools/money.ts";
import type { Actor, OrganizationChange, Transaction } from "../../../foundation/kernel/index.ts";
import { type LaterBudgets, readBudgetsOf } from "./bound.ts";
import { periodsAt } from "./periods.ts";
import { failReached, type ReachedLimit } from "./reached.ts";
import {
  addAmounts,
  addToRows,
  columnOfKind,
  keyOfRow,
  noAmounts,
  subtractAmounts,
  sumRows,
  type UsedAmounts,
  type UsedRow,
} from "./rows.ts";

/** An act that budgets count. */
export interface BudgetedAct {
  readonly organization: string;
  readonly budgets: readonly BoundBudgets[];
  /** Whether it is counted, and no budget holds it back. */
  readonly exceedsBudgets: boolean;
  readonly now: Date;
  readonly messages: number;
  readonly new_contacts: number;
  /** In millionths of the currency's unit. */
  readonly spend: number;
  readonly simulated: boolean;
}

interface CountedActs<One> {
  /** The acts that were not counted, each with the budget that it would exceed. */
  readonly reached: ReadonlyMap<One, ReachedLimit>;
  /** Resolves when the acts that do not fit are taken back. */
  readonly corrected: Promise<void>;
}

/** A budget of an act in a period, and the key of its row. */
interface Place {
  readonly key: string;
  readonly budgets: BoundBudgets;
  readonly period: BudgetPeriod;
  readonly row: UsedRow;
}

/** Without budgets no statement is sent. Acts are counted one after the other: what fits is not held back. */
export async function countActs<One extends BudgetedAct>(
  tx: Transaction,
  acts: readonly One[],
): Promise<CountedActs<One>> {
  const periodsOf = createPeriods();
  const places = new Map(acts.map((act) => [act, placesOf(act, periodsOf)]));
  const added = sumRows(acts.flatMap((act) => (places.get(act) ?? []).map(({ row }) => row)));
  const totals = await addToRows(tx, added);
  const used = new Map(
    added.map((row) => [keyOfRow(row), subtractAmounts(totals.get(keyOfRow(row)) ?? noAmounts, row)]),
  );
  const reached = new Map<One, ReachedLimit>();
  const takenBack: UsedRow[] = [];
  for (const act of acts) {
    const ofAct = places.get(act) ?? [];
    const found = act.exceedsBudgets ? undefined : findReached(act, ofAct, used);
    if (found) {
      reached.set(act, found);
      takenBack.push(...ofAct.map(({ row }) => ({ ...row, ...subtractAmounts(noAmounts, row) })));
    } else {
      for (const { key, row } of ofAct) {
        used.set(key, addAmounts(used.get(key) ?? noAmounts, row));
      }
    }
  }
  const corrected = addToRows(tx, sumRows(takenBack)).then(() => undefined);
  // It is awaited with the writes of the caller. An error also ends the transaction.
  corrected.catch(() => undefined);
  return { reached, corrected };
}

/** What an actor does counts on these budgets. */
export function budgetsOf({
  budgets = [],
  exceedsBudgets = false,
}: Pick<Actor, "budgets" | "exceedsBudgets">) {
  return { budgets, exceedsBudgets };
}

interface CountedChange extends Pick<OrganizationChange, "tx" | "organization" | "now"> {
  readonly actor: Pick<Actor, "budgets" | "exceedsBudgets">;
}

/**
 * Counts contacts before they are created; a number below zero takes back those that were not.
 * @throws Failure `budget_reached`.
 */
export async function countNewContacts(change: CountedChange, new_contacts: number): Promise<void> {
  await countAmounts(change, { messages: 0, new_contacts });
}

/**
 * Counts an act that reaches a contact as a message does and has no price, such as a reaction.
 * @throws Failure `budget_reached`.
 */
export async function countPricelessMessage(change: CountedChange): Promise<void> {
  await countAmounts(change, { messages: 1, new_contacts: 0 });
}

async function countAmounts(
  { tx, organization, actor, now }: CountedChange,
  amounts: Pick<BudgetedAct, "messages" | "new_contacts">,
): Promise<void> {
  const act = { organization, ...budgetsOf(actor), now, ...amounts, spend: 0, simulated: false };
  const { reached, corrected } = await countActs(tx, [act]);
  await corrected;
  const [found] = reached.values();
  if (found) {
    throw failReached(found);
  }
}

/** The function that counts the contacts that a job creates, before it does. It throws `budget_reached`. */
export async function countLaterContacts(
  change: Omit<CountedChange, "actor">,
  { budget_holders, exceeds_budgets: exceedsBudgets }: LaterBudgets,
): Promise<(count: number) => Promise<void>> {
  const budgets = await readBudgetsOf(change.tx, change.organization, budget_holders);
  return (count) => countNewContacts({ ...change, actor: { budgets, exceedsBudgets } }, count);
}

/** Computes the periods of each instant once: a batch has many acts of one instant. */
function createPeriods(): typeof periodsAt {
  const known = new Map<string, ReturnType<typeof periodsAt>>();
  return (zone, now) => {
    const key = `${zone} ${now.getTime()}`;
    const periods = known.get(key) ?? periodsAt(zone, now);
    known.set(key, periods);
    return periods;
  };
}

function placesOf(act: BudgetedAct, periodsOf: typeof periodsAt): readonly Place[] {
  const { organization: organization_id, now, messages, new_contacts, spend, simulated } = act;
  const counted = {
    message_count: messages,
    contact_count: new_contacts,
    spend: simulated ? 0 : spend,
    simulated_spend: simulated ? spend : 0,
  };
  return act.budgets.flatMap((budgets) => {
    const periods = periodsOf(budgets.time_zone, now);
    return budgetPeriods.map((period) => {
      const { name, ends_at } = periods[period];
      const row = { organization_id, holder: budgets.holder, period: name, ends_at, ...counted };
      return { key: keyOfRow(row), budgets, period, row };
    });
  });
}

/** The first budget that an act would exceed; one that rejects it before one that lets it wait. */
function findReached(
  { simulated }: BudgetedAct,
  places: readonly Place[],
  usedOf: ReadonlyMap<string, UsedAmounts>,
): ReachedLimit | undefined {
  const found = places.flatMap(({ key, budgets, period, row }) =>
    budgetKinds.flatMap((kind): ReachedLimit[] => {
      const limit = budgets[kind]?.[period] ?? null;
      const column = kind === "spend" && simulated ? "simulated_spend" : columnOfKind[kind];
      const [used, needed] = [usedOf.get(key)?.[column] ?? 0, row[column]];
      if (limit === null || needed <= 0 || used + needed <= inUnitsOfColumn(kind, limit)) {
        return [];
      }
      const { holder, beyond } = budgets;
      const shown = { used: inShownUnits(kind, used), needed: inShownUnits(kind, needed) };
      return [{ holder, kind, period, limit, ...shown, renews_at: row.ends_at, beyond }];
    }),
  );
  return found.find(({ beyond }) => beyond === "refuse") ?? found[0];
}

const inUnitsOfColumn = (kind: BudgetKind, limit: number) => (kind === "spend" ? toMicros(limit) : limit);
const inShownUnits = (kind: BudgetKind, amount: number) => (kind === "spend" ? fromMicros(amount) : amount);
