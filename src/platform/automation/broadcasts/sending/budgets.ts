/**
 * Counts the messages of a broadcast on budgets, batch by batch. Where a budget is reached, the broadcast
 * pauses, and the recipients that are left stay pending.
 */

import { ofOrganization } from "../../../../database/query/index.ts";
import type { MessageCharge } from "../../../../database/schema/index.ts";
import {
  countActs,
  type ReachedLimit,
  readBudgetSets,
  selectBudgetSets,
} from "../../../account/rules/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import { lockInboxConversations } from "../../../inbox/conversations/index.ts";

/** The broadcast with its budgets as they are now; undefined if there is none. */
export async function findDispatched(tx: Transaction, organization: string, id: string) {
  const found = await ofOrganization(tx, organization)
    .selectFrom("broadcasts")
    .selectAll()
    .select(selectBudgetSets("broadcasts.organization_id", "broadcasts.budget_holders").as("budget_sets"))
    .where("id", "=", id)
    .executeTakeFirst();
  if (!found) {
    return undefined;
  }
  const { budget_sets, ...broadcast } = found;
  return { ...broadcast, budgets: readBudgetSets(budget_sets) };
}

export type DispatchedBroadcast = NonNullable<Awaited<ReturnType<typeof findDispatched>>>;

interface PricedMessage {
  readonly contact_id: string;
  readonly charge: MessageCharge | null;
}

interface Counted<One> {
  readonly allowed: readonly One[];
  /** The budget that the other messages would exceed. */
  readonly reached: ReachedLimit | undefined;
}

/** The first of these messages that the budgets allow. Without budgets no statement is sent. */
export async function countMessages<One extends PricedMessage>(
  {
    tx,
    now,
    broadcast,
  }: { readonly tx: Transaction; readonly now: Date; readonly broadcast: DispatchedBroadcast },
  { inbox_id, messages }: { readonly inbox_id: string; readonly messages: readonly One[] },
): Promise<Counted<One>> {
  const { organization_id: organization, budgets, exceeds_budgets: exceedsBudgets } = broadcast;
  if (budgets.length === 0 || messages.length === 0) {
    return { allowed: messages, reached: undefined };
  }
  // Budgets are locked after conversations, as by single messages.
  const contact_ids = messages.map(({ contact_id }) => contact_id);
  await lockInboxConversations(tx, { organization, inbox_id, contact_ids });
  const acts = messages.map(({ charge }) => ({
    organization,
    budgets,
    exceedsBudgets,
    now,
    messages: 1,
    new_contacts: 0,
    spend: charge?.price ?? 0,
    simulated: charge?.simulated ?? false,
  }));
  const { reached, corrected } = await countActs(tx, acts);
  await corrected;
  const [first] = reached.values();
  const allowed = messages.filter((_, index) => {
    const act = acts[index];
    return act !== undefined && !reached.has(act);
  });
  return { allowed, reached: first };
}
