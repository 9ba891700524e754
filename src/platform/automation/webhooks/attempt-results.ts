/** Saves the results of delivery attempts, a batch in one statement, and enqueues the retries. */

import type { Queries } from "../../../database/database.ts";
import { columnsOf, countedRecordset, ofOrganization, rowsOf } from "../../../database/query/index.ts";
import { coalesce } from "../../../database/sharing/index.ts";
import type { NewJob } from "../../../jobs/job.ts";
import type { Transaction, World } from "../../foundation/kernel/index.ts";
import { createDeliveryJob, type DeliveryPayload, deliveryKey } from "./job.ts";

/** The state of a delivery after an attempt. */
export interface AttemptResult extends DeliveryPayload {
  readonly status: "pending" | "delivered" | "failed" | "held";
  readonly step: number;
  readonly next_try_at: string | null;
  readonly attempt: Readonly<Record<string, unknown>>;
  readonly isDelivered: boolean;
  /** The receiver answered 410 Gone. */
  readonly isGone: boolean;
  /** `failing_since` of the webhook when the attempt began. */
  readonly failing_since: string | null;
}

/** The log of a delivery is limited, because the number of replays is not. */
const maxLoggedAttempts = 30;
/** A webhook that has only failed for five days, longer than a weekend, is switched off. */
const maxFailingMs = 5 * 24 * 3_600_000;

/**
 * Ignores a result whose turn is over, because of a replay meanwhile, or a crash after the result was saved.
 */
export const saveAttemptResult = coalesce(
  async (world: World, results: readonly AttemptResult[]): Promise<undefined[]> => {
    const healthChanges = healthChangesOf(results);
    if (healthChanges.length === 0 && results.every(({ next_try_at }) => next_try_at === null)) {
      await updateDeliveries(world.database.queries, results);
    } else {
      await world.database.transaction(async (tx) => {
        const updated = await updateDeliveries(tx, results);
        await tx.enqueue(createRetryJobs(results, updated));
        for (const result of healthChanges) {
          await updateWebhookHealth(tx, world, result);
        }
      });
    }
    return results.map(() => undefined);
  },
);

function createRetryJobs(results: readonly AttemptResult[], updated: ReadonlySet<string>): NewJob[] {
  return results.flatMap(({ organization_id, webhook_id, event_id, turn, next_try_at }) =>
    next_try_at !== null && updated.has(deliveryKey({ webhook_id, event_id }))
      ? createDeliveryJob(
          { organization_id, webhook_id, event_id, turn: turn + 1 },
          { runAt: new Date(next_try_at) },
        )
      : [],
  );
}

const resultColumns = {
  ...columnsOf(
    "webhook_deliveries",
    "organization_id",
    "webhook_id",
    "event_id",
    "turn",
    "status",
    "step",
    "next_try_at",
  ),
  attempt: "jsonb",
} as const;

/** Returns the keys of the deliveries whose turn was still the turn of their result. */
async function updateDeliveries(
  queries: Queries,
  results: readonly AttemptResult[],
): Promise<ReadonlySet<string>> {
  const rows = results.map(({ organization_id, webhook_id, event_id, turn, status, step, ...rest }) => {
    const { next_try_at, attempt } = rest;
    return { organization_id, webhook_id, event_id, turn, status, step, next_try_at, attempt };
  });
  const updated = await rowsOf(columnsOf("webhook_deliveries", "webhook_id", "event_id"))`
    update webhook_deliveries as delivery
    set status = done.status, turn = delivery.turn + 1, step = done.step, next_try_at = done.next_try_at,
      attempts = case when jsonb_array_length(delivery.attempts) < ${maxLoggedAttempts} then delivery.attempts
        else delivery.attempts - 0 end || done.attempt
    from ${countedRecordset("done", resultColumns, rows)}
    where delivery.organization_id = done.organization_id and delivery.webhook_id = done.webhook_id
      and delivery.event_id = done.event_id and delivery.turn = done.turn and delivery.status = 'pending'
    returning delivery.webhook_id, delivery.event_id
  `.execute(queries);
  return new Set(updated.rows.map(deliveryKey));
}

/**
 * For each webhook whose health may change, the result that decides it; most results change nothing. Sorted
 * by id, so that two batches do not deadlock.
 */
function healthChangesOf(results: readonly AttemptResult[]): AttemptResult[] {
  const changing = results.filter(({ isDelivered, failing_since }) => !isDelivered || failing_since !== null);
  const byPriority = changing.toSorted((a, b) => healthPriority(a) - healthPriority(b));
  // If a webhook has several results, the last one in this order remains.
  const deciding = new Map(byPriority.map((result) => [result.webhook_id, result]));
  return [...deciding.values()].sort((a, b) => (a.webhook_id < b.webhook_id ? -1 : 1));
}

/** A success outweighs the failures of the same batch, and 410 Gone outweighs both. */
function healthPriority({ isDelivered, isGone }: AttemptResult): number {
  return Number(isDelivered) + 2 * Number(isGone);
}

/**
 * Records the time since which the webhook fails, and switches the webhook off after `maxFailingMs` or 410
 * Gone.
 */
async function updateWebhookHealth(tx: Transaction, world: World, result: AttemptResult): Promise<void> {
  const { isDelivered, isGone, failing_since } = result;
  const now = world.now();
  const row = ofOrganization(tx, result.organization_id)
    .updateTable("webhooks")
    .where("id", "=", result.webhook_id);
  if (isDelivered) {
    await row.set({ failing_since: null }).execute();
    return;
  }
  // The first failure and this one are five days apart, which also meets the minimum of twelve hours.
  const hasExpired = failing_since !== null && now.getTime() - Date.parse(failing_since) >= maxFailingMs;
  if (isGone || hasExpired) {
    const disabled_reason = isGone ? "gone" : "failing";
    const updated_at = now.toISOString();
    const { numUpdatedRows } = await row
      .set({ is_active: false, disabled_reason, updated_at })
      .where("is_active", "=", true)
      // Does nothing if the webhook has been switched on again, or has had a success, since the attempt
      // began.
      .$if(!isGone, (query) => query.where("failing_since", "=", failing_since))
      .executeTakeFirst();
    if (numUpdatedRows) {
      const { organization_id, webhook_id } = result;
      world.log.warn({ organization_id, webhook_id, disabled_reason }, "A webhook was switched off");
    }
    return;
  }
  if (failing_since === null) {
    await row.set({ failing_since: now.toISOString() }).where("failing_since", "is", null).execute();
  }
}

/** Holds a delivery whose webhook is inactive, until a replay or a recovery sends it. */
export async function holdDelivery(world: World, payload: DeliveryPayload): Promise<void> {
  await ofOrganization(world.database.queries, payload.organization_id)
    .updateTable("webhook_deliveries")
    .set({ status: "held", next_try_at: null })
    .where("webhook_id", "=", payload.webhook_id)
    .where("event_id", "=", payload.event_id)
    .where("turn", "=", payload.turn)
    .where("status", "=", "pending")
    .execute();
}
