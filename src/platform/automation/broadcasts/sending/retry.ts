/** Sends a broadcast again to recipients whose message failed, or who were excluded by a cancel. */
import { fail } from "../../../../../tools/errors.ts";
import { columnsOf, rowsOf } from "../../../../database/query/index.ts";
import { toLaterBudgets } from "../../../account/rules/index.ts";
import { isVersionSendable } from "../../../content/templates/index.ts";
import type { Transaction } from "../../../foundation/kernel/index.ts";
import { replaceBroadcastMessages } from "../../../inbox/messages/index.ts";
import { failInsufficient } from "../../../money/wallet/index.ts";
import { type BroadcastRow, changeBroadcast, getBroadcast, lockBroadcast, requireState } from "../find.ts";
import { type ExecuteContext, startDispatch } from "./execute.ts";
import { holdCost, paymentOfBroadcast } from "./freeze.ts";

interface RetryInput {
  readonly id: string;
  readonly scope: "failed" | "pending";
  readonly only_retryable: boolean;
  readonly include_unconfirmed: boolean;
}

const retryable = { allowed: ["completed", "cancelled"], action: "retried" } as const;

/**
 * Returns the broadcast and how many recipients get it again.
 * @throws Failure `broadcast_outdated`; `insufficient_funds`, because what was held for the failed or
 *   cancelled messages has been released.
 */
export async function retryBroadcast(
  context: Omit<ExecuteContext, "broadcast"> & { readonly organization: string },
  { id, scope, only_retryable, include_unconfirmed }: RetryInput,
): Promise<{ readonly broadcast: BroadcastRow; readonly count: number }> {
  const { tx, world, organization, now } = context;
  const broadcast = await getBroadcast(tx, organization, id);
  requireState(broadcast, retryable);
  // The messages and recipients are locked before the broadcast, as by their receipts and a dispatch.
  const { count, cost } =
    scope === "failed"
      ? await takeFailed(tx, broadcast, { only_retryable, include_unconfirmed })
      : await takeCancelled(tx, broadcast);
  const locked = await lockBroadcast(tx, organization, { id, ...retryable });
  if (count === 0) {
    return { broadcast: locked, count };
  }
  const { currency, failed, queued, total, excluded, runs, template, template_id } = locked;
  if (
    !template ||
    !(await isVersionSendable(tx, organization, { id: template_id, version: template.version }))
  ) {
    throw fail("broadcast_outdated", { name: template?.name ?? "" });
  }
  const held = { amount: cost, currency: currency ?? "" };
  const executing = { ...context, broadcast: locked };
  const payment = await paymentOfBroadcast(executing);
  const { simulated } = payment;
  if (currency !== null && !(await holdCost(executing, payment, held))) {
    throw await failInsufficient(tx, world, { organization, simulated, required: cost });
  }
  const { cancelled = 0, ...others } = excluded;
  const counts =
    scope === "failed"
      ? { failed: failed - count, queued: queued - count }
      : {
          total: total + count,
          excluded: JSON.stringify({
            ...others,
            ...(cancelled > count ? { cancelled: cancelled - count } : {}),
          }),
        };
  const changed = await changeBroadcast(tx, locked, {
    ...counts,
    execution_status: "processing",
    completed_at: null,
    runs: runs + 1,
    simulated,
    ...toLaterBudgets(context.actor, locked.budget_holders),
    now,
  });
  return { broadcast: await startDispatch({ ...context, broadcast: changed }), count };
}

interface RetryTotals {
  readonly count: number;
  /** In millionths of the currency's unit. */
  readonly cost: number;
}

async function takeFailed(
  tx: Transaction,
  broadcast: BroadcastRow,
  { only_retryable, include_unconfirmed }: Pick<RetryInput, "only_retryable" | "include_unconfirmed">,
): Promise<RetryTotals> {
  const { organization_id, id } = broadcast;
  const messages = await replaceBroadcastMessages(tx, {
    organization: organization_id,
    broadcast_id: id,
    onlyRetryable: only_retryable,
    includesUnconfirmed: include_unconfirmed,
  });
  return sumOf(
    await rowsOf(columnsOf("broadcast_recipients", "price"))`
      update broadcast_recipients set status = 'pending', message_id = null
      where organization_id = ${organization_id} and broadcast_id = ${id} and status = 'queued'
        and message_id = any(${messages}::text[])
      returning price
    `.execute(tx),
  );
}

/** The variables of cancelled recipients were kept. */
async function takeCancelled(tx: Transaction, { organization_id, id }: BroadcastRow): Promise<RetryTotals> {
  return sumOf(
    await rowsOf(columnsOf("broadcast_recipients", "price"))`
      update broadcast_recipients set status = 'pending', reason = null
      where organization_id = ${organization_id} and broadcast_id = ${id} and status = 'excluded' and reason = 'cancelled'
      returning price
    `.execute(tx),
  );
}

interface PricedRecipient {
  readonly price: number | null;
}

function sumOf({ rows }: { readonly rows: readonly PricedRecipient[] }): RetryTotals {
  return { count: rows.length, cost: rows.reduce((sum, { price }) => sum + (price ?? 0), 0) };
}
